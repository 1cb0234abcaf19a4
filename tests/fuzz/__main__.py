"""``python -m tests.fuzz messages``: a coverage-guided fuzzer on one law, until it fails or is stopped.

Needs ``pip install atheris``. What follows the name goes to the fuzzer, as `-max_total_time=600` or a folder
for what it finds; without a folder it starts from `fuzz/corpus` and adds to it.
"""

from __future__ import annotations

import sys
from pathlib import Path

NAMES = ("messages", "records", "subscriptions")


def main(arguments: list[str]) -> None:
    """Run one law under atheris."""
    if not arguments or arguments[0] not in NAMES:
        sys.exit(f"usage: python -m tests.fuzz {{{','.join(NAMES)}}} [OPTION OF LIBFUZZER]... [FOLDER]...")
    try:
        import atheris
    except ImportError:
        sys.exit("this needs atheris: pip install atheris")
    # What is imported here is what the fuzzer follows.
    with atheris.instrument_imports(include=["pathcast"]):
        from tests.fuzz.laws import LAWS
    law = LAWS[arguments[0]]
    corpus = Path(__file__).parents[2] / "fuzz" / "corpus" / arguments[0]
    found = [] if any(not each.startswith("-") for each in arguments[1:]) else [str(corpus)]

    def one(data: bytes) -> None:
        law(data)

    atheris.Setup([sys.argv[0], *arguments[1:], *found], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
