"""The tables: columns, keys and indexes.

| table | a row is |
|---|---|
| `Step` | a step down from one named node to another; its parent is the step before |
| `Slot` | a chain of steps, by its last one, with a value test or a pattern at its end |
| `Pattern` | slots that one node must fill: the rarest, another one, and how many more |
| `OtherSlot` | a third slot of a pattern, or a later one |
| `Subject` | a value of a node that some test looks at |
| `Predicate` | a distinct value test |
| `Subscriber` | a step, slot or pattern of the document node that makes a subscription match |
| `Subscription` | a subscription as it was written, as JSON |
| `Setting` | what holds for the whole database |
| `XMLPath`, `XMLPathAncestor` | the distinct paths of names in a batch of documents, and their ancestors |
| `XMLNode`, `XMLAncestor`, `XMLBelow` | its nodes, their ancestors, and the distinct paths below a node |
| `XMLValue` | its values that some test looks at |
| `Path`, `PathStep` | the path summary: known paths, and which chains of steps end there |
| `Fact` | which node fills which slot, of those that are asked for above the first level of patterns |

Steps, slots, patterns, subjects and predicates are numbered by their content. So a new subscription writes
only rows that are not there yet, and two writers need not agree on numbers. `proof` is a second hash of the
content: a row with the same number and another proof is a collision, and then nothing is written.
"""

from __future__ import annotations

COLUMNS: dict[str, dict[str, str]] = {
    "Step": {
        "step": "bigint",
        "proof": "bigint",
        "parent": "bigint",
        "level": "integer",
        "high_node": "varchar",
        "low_node": "varchar",
        "min_diff": "integer",
        "max_diff": "integer",
    },
    "Slot": {
        "slot": "bigint",
        "proof": "bigint",
        "step": "bigint",
        "is_test": "boolean",
        "low": "bigint",
    },
    "Pattern": {
        "id": "bigint",
        "proof": "bigint",
        "level": "integer",
        "first_slot": "bigint",
        "second_slot": "bigint",
        "others": "integer",
    },
    "OtherSlot": {"id": "bigint", "slot": "bigint"},
    "Subject": {"subject": "bigint", "proof": "bigint", "node": "varchar", "name": "varchar"},
    "Predicate": {
        "predicate": "bigint",
        "proof": "bigint",
        "subject": "bigint",
        "operation": "integer",
        "text_value": "varchar",
        "number_value": "double precision",
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
    "XMLPath": {"path": "bigint", "depth": "integer", "name": "varchar", "namespace": "varchar"},
    "XMLPathAncestor": {"low": "bigint", "diff": "integer", "high": "bigint"},
    "XMLNode": {"node": "bigint", "path": "bigint"},
    "XMLBelow": {"node": "bigint", "path": "bigint", "diff": "integer"},
    "XMLAncestor": {"low": "bigint", "diff": "integer", "high": "bigint"},
    "XMLValue": {
        "node": "bigint",
        "subject": "bigint",
        "text_value": "varchar",
        "number_value": "double precision",
    },
    # Those that grow: the path summary from batch to batch, the facts from level to level.
    "Path": {"path": "bigint"},
    "PathStep": {
        "path": "bigint",
        "diff": "integer",
        "step": "bigint",
        "level": "integer",
        "follows": "integer",
    },
    "Fact": {"node": "bigint", "slot": "bigint"},
}

KEYS: dict[str, tuple[str, ...]] = {
    "Step": ("step",),
    "Slot": ("slot",),
    "Pattern": ("id",),
    "OtherSlot": ("id", "slot"),
    "Subject": ("subject",),
    "Predicate": ("predicate",),
    "Subscriber": ("subscription", "pattern"),
    "Subscription": ("subscription",),
    "Setting": ("name",),
}
"""Primary keys of the tables that stay."""

SHARED = {
    "Step": "step",
    "Slot": "slot",
    "Pattern": "id",
    "OtherSlot": "id",
    "Subject": "subject",
    "Predicate": "predicate",
}
"""Tables whose rows several subscriptions share, and the number that is made from the content."""

DOCUMENTS = ("XMLPath", "XMLPathAncestor", "XMLNode", "XMLBelow", "XMLAncestor", "XMLValue")
"""The tables of a batch of documents."""

INDEXES: dict[str, tuple[tuple[str, ...], ...]] = {
    "Step": (("parent",),),
    "Slot": (("low",), ("step",)),
    "Pattern": (("first_slot",), ("second_slot",)),
    "OtherSlot": (("slot",),),
    "Predicate": (("subject",), ("text_value",)),
    "Subscriber": (("pattern",),),
}
"""Further indexes, where a backend profits from them."""


def missing_rows(table: str) -> str:
    """Rows of the stage whose number the table does not have.

    >>> print(missing_rows("OtherSlot"))
    select s.id, s.slot from {Stage} s
    where not exists (select 1 from {OtherSlot} t where t.id = s.id)
    """
    columns = ", ".join(f"s.{column}" for column in COLUMNS[table])
    number = SHARED[table]
    return (
        f"select {columns} from {{Stage}} s\n"
        f"where not exists (select 1 from {{{table}}} t where t.{number} = s.{number})"
    )


def collisions(table: str) -> str:
    """Counts rows of the stage whose number belongs to another content.

    >>> print(collisions("Slot"))
    select count(*) from {Stage} s join {Slot} t on t.slot = s.slot where t.proof <> s.proof
    """
    number = SHARED[table]
    return (
        f"select count(*) from {{Stage}} s join {{{table}}} t on t.{number} = s.{number} "
        "where t.proof <> s.proof"
    )
