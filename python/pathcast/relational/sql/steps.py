"""The SQL of a match: named statements that every backend runs.

A name in braces is a table; `tables` says what is in it. No statement is recursive, none joins without an
equality, and no value is pasted into a text: values come from tables. Only the level is filled in.

The run is bottom-up. `Base` gathers which node fills which slot, of those that need no pattern:

- `LEAVES`: a chain of steps with nothing at its end. It is enough that there is such a path below the node.
- `TESTS`: a chain of steps, or none, with a value test at its end.

Most of that concerns the first level of patterns alone. `Fact` begins with the rest, `KEPT`, and grows with
each level.

Then, for each level of patterns:

- `STARTED` finds the nodes that have the rarest slot of a pattern, `PAIRED` those of them that have the
  second one too, and `PATTERNS` those that have all. So few rows are looked up.
- `RISING` takes a pattern that was found to where the chains of steps begin that it is the end of.

Databases are told to keep the order of the joins. The right side of a join is the one that is expected to be
small: a table is made of it in memory, which the rows of the left side are looked up in.

The slots of a pattern are filled at one and the same node: this is the branching-point check of the paper.
"""

from __future__ import annotations

from pathcast.relational.settings import NODE_BITS


def at_first(query: str) -> str:
    """A statement about the first level, where everything in `Base` may be asked for.

    >>> at_first("select node from {Fact}")
    'select node from {Base}'
    """
    return query.replace("{Fact}", "{Base}")


def numbered(query: str) -> str:
    """A statement about subscribers that tells numbers of subscriptions in place of their names.

    >>> numbered("select subscription from {Subscriber}")
    'select subscription from {Numbered}'
    """
    return query.replace("{Subscriber}", "{Numbered}")


_IS_DOCUMENT = f"node % {1 << NODE_BITS} = 0"
"""The number of a document node ends in zeros."""

TEST_SLOTS = """
select s.slot, s.step, p.subject, p.operation, p.text_value, p.number_value
from {Slot} s
join {Predicate} p on p.predicate = s.low
where s.is_test
"""
"""The slots with a value test at their end, each with its test."""

_PASSED = """
select v.node, t.slot, t.step
from {{XMLValue}} v
join (select * from {{TestSlot}} where {which} and operation = 0) t
    on t.subject = v.subject and t.text_value = v.text_value
union all
select v.node, t.slot, t.step
from {{XMLValue}} v
join (select * from {{TestSlot}} where {which} and operation = 0) t
    on t.subject = v.subject and t.number_value = v.number_value
union all
select v.node, t.slot, t.step
from {{XMLValue}} v
join (select * from {{TestSlot}} where {which} and operation <> 0) t on t.subject = v.subject
where t.operation = 6
   or t.operation = 1 and v.number_value > t.number_value
   or t.operation = 2 and v.number_value >= t.number_value
   or t.operation = 3 and v.number_value < t.number_value
   or t.operation = 4 and v.number_value <= t.number_value
   or t.operation = 5 and t.text_value is not null and (v.text_value <> t.text_value or v.text_value is null)
   or t.operation = 5 and t.number_value is not null
      and (v.number_value <> t.number_value or v.number_value is null)
"""
"""Which node passes the value test of which slot.

A text that is too long to be kept is null: it equals no constant and differs from all. A value that is no
number is null as number, which XPath's NaN is: only ``!=`` holds.
"""

LEAF_SLOTS = """
select first_slot as step from {Pattern} where first_slot % 4 = 1
union
select second_slot as step from {Pattern} where second_slot % 4 = 1
union
select slot as step from {OtherSlot} where slot % 4 = 1
"""
"""The steps that are slots of patterns by themselves; the lowest bits of a number say what it is of."""

UPPER_SLOTS = """
select first_slot as slot from {Pattern} where level > 1
union
select second_slot as slot from {Pattern} where level > 1
union
select o.slot from {OtherSlot} o join {Pattern} p on p.id = o.id where p.level > 1
"""
"""The slots of patterns above the first level."""

BATCH_STEPS = """
select s.path, s.diff, s.step from {PathStep} s join {XMLPath} x on x.path = s.path
"""
"""The part of the path summary that is about paths of this batch."""

ALWAYS = """
select n.node, cast(0 as bigint) as slot
from {XMLNode} n
join {XMLPath} p on p.path = n.path
where p.depth = 0
"""
"""The pattern 0 asks nothing; every document node has it."""

LEAVES = """
select distinct b.node, s.step as slot
from (select s.path, s.diff, s.step from {BatchStep} s join {LeafSlot} l on l.step = s.step) s
join {XMLBelow} b on b.path = s.path and b.diff = s.diff
"""
"""Chains of steps with nothing at their end, found by the path alone, of those that patterns ask for."""

TESTS = f"""
select p.node, p.slot from ({_PASSED.format(which="step = 0")}) p
union all
select distinct a.high as node, p.slot
from ({_PASSED.format(which="step <> 0")}) p
join {{XMLNode}} n on n.node = p.node
join {{BatchStep}} c on c.path = n.path and c.step = p.step
join {{XMLAncestor}} a on a.low = p.node and a.diff = c.diff
"""
"""Value tests on the node itself, and at the end of a chain of steps."""

KEPT = f"""
select f.node, f.slot
from {{Base}} f
left join {{UpperSlot}} u on u.slot = f.slot
where u.slot is not null or f.{_IS_DOCUMENT}
"""
"""What is asked for above the first level, or by subscribers."""

STARTED = """
select f.node, p.id, p.second_slot, p.others
from {Fact} f
join {Pattern} p on p.first_slot = f.slot
where p.level = {level}
"""
"""The nodes that have the rarest slot of a pattern of the level."""

PAIRED = f"""
select s.node, s.id, s.others
from {{Fact}} f
join ({STARTED}) s on s.node = f.node and s.second_slot = f.slot
"""
"""Those of them that have the second one too."""

PATTERNS = """
select s.node, s.id as slot from {Paired} s where s.others = 0
union all
select s.node, s.id as slot
from {Fact} f
join (
    {OtherSlot} o
    join (select * from {Paired} where others > 0) s on s.id = o.id
) on s.node = f.node and o.slot = f.slot
group by s.node, s.id, s.others
having count(distinct f.slot) = s.others
"""
"""Those of them that have all the others."""

RISING = f"""
select distinct a.high as node, s.slot
from {{XMLAncestor}} a
join (
    {{BatchStep}} c
    join (
        {{XMLNode}} n
        join ({{Slot}} s join {{Level}} l on l.slot = s.low) on l.node = n.node
    ) on n.path = c.path and s.step = c.step
) on l.node = a.low and c.diff = a.diff
union all
select node, slot from {{Level}} where {_IS_DOCUMENT}
"""
"""Where the chains of steps begin at whose end a pattern of the level was found.

A pattern itself is asked for at the document node alone.
"""

_PATHS = f"(select node, path, diff from {{XMLBelow}} where {_IS_DOCUMENT})"
"""The paths of whole documents."""

FOUND = f"""
select b.node, s.subscription, s.is_exact
from (
    select c.path, c.diff, u.subscription, u.is_exact
    from {{BatchStep}} c
    join {{Subscriber}} u on u.pattern = c.step
) s
join {_PATHS} b on b.path = s.path and b.diff = s.diff
union all
select f.node, s.subscription, s.is_exact
from (select node, slot from {{Fact}} where {_IS_DOCUMENT}) f
join {{Subscriber}} s on s.pattern = f.slot
"""
"""The subscribers of what was found, by paths for linear ones and by facts for the others.

A document satisfies a subscription if it has one of the patterns that say all of it. A pattern that says
less makes a candidate, which the expression itself decides. A pair may come several times.
"""

LAST_NAMES = """
select coalesce(t.low_node, '*') as label, u.subscription
from {Subscriber} u
left join {Pattern} p on p.id = u.pattern
left join {Slot} s on s.slot = coalesce(p.first_slot, u.pattern)
left join {Step} t on t.step = coalesce(s.step, p.first_slot, u.pattern)
"""
"""The last name of a path from the document node that every match of a subscription has."""

OUTLINE = f"""
select distinct b.node, l.label
from {{Label}} l
join {{LastName}} t on t.label = l.label
join {_PATHS} b on b.path = l.path
"""
"""What may match, by names alone: the last names that a document has."""

DEFINITIONS = """
select s.subscription, s.definition
from {Subscription} s
join {Asked} a on a.subscription = s.subscription
"""
"""The expressions of candidates."""
