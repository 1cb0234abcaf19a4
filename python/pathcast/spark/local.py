"""Renamed: `session` is in `pathcast.spark.driver.session`."""

from __future__ import annotations

import warnings

from pathcast.spark.driver.session import is_submitted, session

__all__ = ["is_submitted", "session"]

warnings.warn(
    "pathcast.spark.local was renamed to pathcast.spark.driver.session", DeprecationWarning, stacklevel=2
)
