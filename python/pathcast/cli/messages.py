"""Messages about options in plain words: without what the library that reads them says of itself.

>>> plain("Value error, 'x' is not one of 'jsonl', 'csv', 'table'.")
"'x' is not one of 'jsonl', 'csv', 'table'."
>>> plain("Input should be a valid integer, unable to parse string as an integer")
'it must be a whole number'
>>> plain("Input should be greater than or equal to 1")
'it must be at least 1'
"""

from __future__ import annotations

import re

_WORDS = (
    (r"^Value error, ", ""),
    (r"^Input should be a valid integer.*", "it must be a whole number"),
    (r"^Input should be a valid number.*", "it must be a number"),
    (r"^Input should be greater than or equal to ", "it must be at least "),
    (r"^Input should be less than or equal to ", "it must be at most "),
    (r"^Input should be ", "it must be "),
)


def plain(message: str) -> str:
    """The message as a person would say it."""
    for said, meant in _WORDS:
        message = re.sub(said, meant, message)
    return message
