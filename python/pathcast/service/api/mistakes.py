"""Mistakes in a request as plain sentences: what is wrong, and where."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

_WANTED = {
    "missing": "is missing",
    "extra_forbidden": "is not a field here",
    "json_invalid": "is not JSON",
    "string_type": "must be text",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must be letters, digits, '.', '_' and '-', and not too long",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing_size": "is too large",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "literal_error": "must be {expected}",
    "list_type": "must be a list",
    "too_short": "must have at least {min_length}",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
}


# What stands in a place for one of several types that a field may have.
_CHOICE = re.compile(r"function-.*|literal\[.*|[A-Z]\w*Body|str|int")


def sentence(error: Mapping[str, Any]) -> str:
    """What pydantic found, in our words.

    >>> sentence({"type": "missing", "loc": ("body", "xpath"), "msg": "Field required"})
    'xpath is missing'
    >>> sentence({"type": "greater_than_equal", "loc": ("grace",), "msg": "...", "ctx": {"ge": 0}})
    'grace must be at least 0'
    """
    kind = error["type"]
    where = place(error["loc"])
    if kind == "value_error":
        told = str(error["ctx"]["error"])
        return f"{where}: {told}" if where else told
    told = _WANTED.get(kind, "is not what is wanted here").format(**error.get("ctx", {}))
    return f"{where or 'the body'} {told}"


def place(parts: Sequence[int | str]) -> str:
    """Where it is: the names on the way, without where in the request it came from.

    >>> place(("body", "scopes", 0)), place(("query", "limit")), place(("body", 7))
    ('scopes.0', 'limit', '')
    """
    names = parts[1:] if parts and parts[0] in ("body", "query", "path", "header") else parts
    if all(isinstance(part, int) for part in names):  # the place of a mistake in the JSON itself
        return ""
    return ".".join(str(part) for part in names if _CHOICE.fullmatch(str(part)) is None)
