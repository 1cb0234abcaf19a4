"""What must hold for any bytes that a stranger sends to the parts written in Python."""
