"""The cases of `testdata/` put to a database, all of one mode at once."""

from __future__ import annotations

from collections.abc import Sequence

from pathcast.relational import Relational
from tests.relational.backends import Make
from tests.suite.cases import Case, cases, refused_documents


def wrong_verdicts(make: Make, modes: Sequence[bool] = (False, True)) -> list[str]:
    """The cases that a database answers otherwise, in both modes of namespaces."""
    return [
        line
        for ignore in modes
        for line in _wrong(make(ignore), [case for case in cases() if case.ignore_namespaces is ignore])
    ]


def _wrong(database: Relational, some: list[Case]) -> list[str]:
    database.subscribe(
        (number, case.xpath, case.ordered, case.namespaces or None, case.variables or None)
        for number, case in enumerate(some)
    )
    documents = {case.document: f"d{number}" for number, case in enumerate(some)}
    bad = {f"bad {number}": refused for number, refused in enumerate(refused_documents())}
    found = set(
        database.match(
            [
                *((name, document) for document, name in documents.items()),
                *((name, refused.document) for name, refused in bad.items()),
            ]
        )
    )
    wrong = [
        f"{case}: {case.document!r}"
        for number, case in enumerate(some)
        if ((documents[case.document], number) in found) is not case.expected
    ]
    dead = {letter.document: letter.error for letter in database.dead_letters}
    wrong += [f"{refused} was not refused" for name, refused in bad.items() if name not in dead]
    wrong += [
        f"{refused}: {dead[name]}"
        for name, refused in bad.items()
        if name in dead and refused.reason.lower() not in dead[name].reason.lower()
    ]
    wrong += [f"{name} was refused: {error}" for name, error in dead.items() if name not in bad]
    database.close()
    return wrong
