"""Tests of matching inside a database, on every backend."""
