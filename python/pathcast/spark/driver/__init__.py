"""What runs on the driver: checks, plans, files, sinks. Nothing here reads a document."""
