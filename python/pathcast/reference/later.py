"""The functions of XPath 2.0 that subscriptions may use, for lxml to call."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from lxml import etree

_FLAGS = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE, "x": re.VERBOSE}


def _text(value: Any) -> str:
    """What `string()` makes of an argument: lxml hands over lists, strings, numbers and booleans."""
    if isinstance(value, list):
        return _text(value[0]) if value else ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if math.isfinite(value):
            return f"{value:.17f}".rstrip("0").rstrip(".").replace("-0", "0") if value else "0"
        return "NaN" if math.isnan(value) else f"{'-' if value < 0 else ''}Infinity"
    if isinstance(value, str):
        return str(value)
    if callable(value.tag):  # a comment or an instruction
        return value.text or ""
    return str(etree.XPath("string()", smart_strings=False)(value))


def _matches(context: object, text: Any, pattern: Any, flags: Any = "") -> bool:
    chosen = sum(_FLAGS[flag] for flag in _text(flags))
    return re.search(_text(pattern), _text(text), chosen) is not None


FUNCTIONS: dict[tuple[None, str], Callable[..., object]] = {
    (None, "ends-with"): lambda _, text, end: _text(text).endswith(_text(end)),
    (None, "matches"): _matches,
    (None, "lower-case"): lambda _, text: _text(text).lower(),
    (None, "upper-case"): lambda _, text: _text(text).upper(),
}
"""By namespace and name, as lxml takes them."""
