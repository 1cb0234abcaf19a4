"""Experiments: every figure is a ratio taken in one run, and every run checks its answers."""
