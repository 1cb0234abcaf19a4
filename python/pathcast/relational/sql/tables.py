"""The tables that stay: columns, keys and the statements that change them.

| table | a row is |
|---|---|
| `Frame` | a distinct edge as documents see it: the names at both ends, least and greatest depth difference |
| `XPathFrame` | an edge of a pattern, by level |
| `Predicate` | a distinct value test as documents see it |
| `XPathPred` | a value test of a pattern, by level |
| `Subscriber` | a pattern on the document node that makes a subscription match |
| `Subscription` | a subscription as it was written, as JSON |
| `Setting` | what holds for the whole database |

Numbers of frames, predicates and patterns are made from their content. So a subscription that is added
writes only rows that are not there yet, two writers that never met agree, and a row that is there with other
content shows that two contents have met in one number; then nothing is written.

A pattern whose last subscription was taken away stays until `SWEEP` is run: it costs space and time, and
changes no answer.
"""

from __future__ import annotations

COLUMNS: dict[str, dict[str, str]] = {
    "Frame": {
        "frame": "bigint",
        "high_node": "varchar",
        "low_node": "varchar",
        "min_diff": "integer",
        "max_diff": "integer",
    },
    "XPathFrame": {
        "level": "integer",
        "id": "bigint",
        "branch": "integer",
        "branches": "integer",
        "frame": "bigint",
        "low_id": "bigint",
        "is_final": "boolean",
    },
    "Predicate": {
        "predicate": "bigint",
        "node": "varchar",
        "name": "varchar",
        "operation": "integer",
        "text_value": "varchar",
        "number_value": "double precision",
    },
    "XPathPred": {
        "level": "integer",
        "id": "bigint",
        "branch": "integer",
        "branches": "integer",
        "predicate": "bigint",
    },
    "Subscriber": {
        "subscription": "varchar",
        "pattern": "bigint",
        "is_exact": "boolean",
        "is_several": "boolean",
    },
    "Subscription": {"subscription": "varchar", "definition": "varchar"},
    "Setting": {"name": "varchar", "content": "varchar"},
    # Those of a batch of documents.
    "XMLFrame": {
        "document": "bigint",
        "node": "varchar",
        "namespace": "varchar",
        "start_point": "bigint",
        "end_point": "bigint",
        "depth": "integer",
    },
    "XMLValue": {
        "document": "bigint",
        "start_point": "bigint",
        "name": "varchar",
        "namespace": "varchar",
        "text_value": "varchar",
        "number_value": "double precision",
    },
    "XMLAncestor": {
        "document": "bigint",
        "low_start": "bigint",
        "high_start": "bigint",
        "depth_diff": "integer",
    },
    # Those that a run adds to, level by level.
    "Kept": {"document": "bigint", "id": "bigint", "start_point": "bigint"},
    "MatchedXPath": {"document": "bigint", "id": "bigint"},
}

KEYS: dict[str, tuple[str, ...]] = {
    "Frame": ("frame",),
    "XPathFrame": ("id", "branch"),
    "Predicate": ("predicate",),
    "XPathPred": ("id", "branch"),
    "Subscriber": ("subscription", "pattern"),
    "Subscription": ("subscription",),
    "Setting": ("name",),
}
"""Primary keys, and so the tables that stay."""

INDEXES: dict[str, tuple[tuple[str, ...], ...]] = {
    "Frame": (("low_node",),),
    "XPathFrame": (("level", "low_id"), ("frame",)),
    "XPathPred": (("level",), ("predicate",)),
    "Predicate": (("text_value",), ("number_value",)),
    "Subscriber": (("pattern",),),
    "XMLFrame": (("node",), ("depth",)),
}
"""Further indexes, where a backend profits from them."""

SHARED = {"Frame": "frame", "XPathFrame": "id", "Predicate": "predicate", "XPathPred": "id"}
"""Tables whose rows several subscriptions share, and the number that is made from the content."""


def missing_rows(table: str) -> str:
    """Rows of the stage whose number the table does not have.

    >>> print(missing_rows("XPathPred"))
    select s.level, s.id, s.branch, s.branches, s.predicate from {Stage} s
    where not exists (select 1 from {XPathPred} t where t.id = s.id)
    """
    columns = ", ".join(f"s.{column}" for column in COLUMNS[table])
    number = SHARED[table]
    return (
        f"select {columns} from {{Stage}} s\n"
        f"where not exists (select 1 from {{{table}}} t where t.{number} = s.{number})"
    )


def met_rows(table: str) -> str:
    """Counts rows of the stage that the table has with another content."""
    same = " and ".join(
        f"(t.{column} = s.{column} or t.{column} is null and s.{column} is null)" for column in COLUMNS[table]
    )
    key = " and ".join(f"t.{column} = s.{column}" for column in KEYS[table])
    return (
        f"select count(*) from {{Stage}} s\n"
        f"where not exists (select 1 from {{{table}}} t where {key} and {same})"
    )


REMOVE = (
    "delete from {Subscriber} where subscription in (select subscription from {Gone})",
    "delete from {Subscription} where subscription in (select subscription from {Gone})",
)
"""Takes subscriptions away."""

SWEEP_LEVEL = tuple(
    f"""delete from {{{table}}} where level = {{level}}
and not exists (select 1 from {{Subscriber}} s where s.pattern = {{{table}}}.id)
and not exists (select 1 from {{Above}} a where a.low_id = {{{table}}}.id)"""
    for table in ("XPathPred", "XPathFrame")
)
"""Takes away the patterns of one level that nobody needs, `Above` being the lower ends of higher edges."""

ABOVE = "select distinct low_id from {XPathFrame} where level > {level}"

SWEEP = (
    "delete from {Frame} where not exists (select 1 from {XPathFrame} e where e.frame = {Frame}.frame)",
    "delete from {Predicate} where not exists "
    "(select 1 from {XPathPred} t where t.predicate = {Predicate}.predicate)",
)
"""Then frames and predicates that no pattern has."""
