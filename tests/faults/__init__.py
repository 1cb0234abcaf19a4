"""What happens when the disk is full or fails under us."""
