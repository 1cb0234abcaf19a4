"""The calls over HTTP: one file a family. They read requests, ask the service, and write answers."""
