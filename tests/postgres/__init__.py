"""A PostgreSQL server for tests and benchmarks."""
