"""The SQL of a match: named statements that every backend runs.

A name in braces is a table; `tables` says what is in it. No statement is recursive, none joins without an
equality, and no value is pasted into a text: values come from tables. Only the level is filled in.

The run is bottom-up. `Base` gathers which node fills which slot, of those that need no pattern:

- `LEAVES`: a chain of steps with nothing at its end. It is enough that there is such a path below the node.
- `TESTS` and `RANGES`: a chain of steps, or none, with a value test at its end.

Most of that concerns the first level of patterns alone. `Fact` begins with the rest, `KEPT`, and grows with
each level.

Then, for each level of patterns:

- `STARTED` finds the nodes that have the rarest slot of a pattern, `PAIRED` those of them that have the
  second one too, and `PATTERNS` those that have all. So few rows are looked up.
- If one of the two is a test of the node itself other than for equality, `PAIRED_CHECKED` starts from the
  other one: most nodes pass such a test, so it is no fact but a question about the nodes that are left.
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

EQUAL = """
select v.node, t.slot, t.step
from {XMLValue} v
join (select * from {TestSlot} where operation = 0) t
    on t.subject = v.subject and t.text_value = v.text_value
union all
select v.node, t.slot, t.step
from {XMLValue} v
join (select * from {TestSlot} where operation = 0) t
    on t.subject = v.subject and t.number_value = v.number_value
"""
"""Which node has the value that a slot asks for."""

_HOLDS = """(
    t.operation = 6
    or t.operation = 1 and v.number_value > t.number_value
    or t.operation = 2 and v.number_value >= t.number_value
    or t.operation = 3 and v.number_value < t.number_value
    or t.operation = 4 and v.number_value <= t.number_value
    or t.operation = 5 and t.text_value is not null and (v.text_value <> t.text_value or v.text_value is null)
    or t.operation = 5 and t.number_value is not null
        and (v.number_value <> t.number_value or v.number_value is null)
)"""
"""Whether a value passes a test other than for equality.

A text that is too long to be kept is null: it equals no constant and differs from all. A value that is no
number is null as number, which XPath's NaN is: only ``!=`` holds.
"""

_HOLDS_FOR_SOME = """(
    t.operation = 6
    or t.operation = 1 and v.highest > t.number_value
    or t.operation = 2 and v.highest >= t.number_value
    or t.operation = 3 and v.lowest < t.number_value
    or t.operation = 4 and v.lowest <= t.number_value
    or t.operation = 5 and t.text_value is not null
        and (v.first_text <> t.text_value or v.last_text <> t.text_value or v.has_no_text)
    or t.operation = 5 and t.number_value is not null
        and (v.lowest <> t.number_value or v.highest <> t.number_value or v.has_no_number)
)"""
"""The same for several values together: one of them passes if the highest or the lowest does."""

_LATE = "(select * from {TestSlot} where step = 0 and operation <> 0)"
"""Tests of the node itself that most nodes pass: they are looked at when the rest is there."""

CHECKED = f"""
select p.id, p.level, p.others, p.first_slot as start_slot,
       t.subject, t.operation, t.text_value, t.number_value
from {{Pattern}} p
join {_LATE} t on t.slot = p.second_slot
union all
select p.id, p.level, p.others, p.second_slot as start_slot,
       t.subject, t.operation, t.text_value, t.number_value
from {{Pattern}} p
join {_LATE} t on t.slot = p.first_slot
left join {_LATE} u on u.slot = p.second_slot
where u.slot is null
"""
"""The patterns with such a test, each with the test and with the slot to start from."""

PAIRS = f"""
select p.id, p.level, p.first_slot, p.second_slot, p.others
from {{Pattern}} p
left join {_LATE} t on t.slot = p.first_slot
left join {_LATE} u on u.slot = p.second_slot
where t.slot is null and u.slot is null
"""
"""The other patterns."""

OTHER_TESTS = f"""
select o.id, o.slot, t.subject, t.operation, t.text_value, t.number_value
from {{OtherSlot}} o
join {_LATE} t on t.slot = o.slot
"""
"""Such tests that are further slots of a pattern."""

EARLY_TESTS = f"""
select t.slot, t.subject, t.operation, t.text_value, t.number_value
from {_LATE} t
where t.slot in (select pattern from {{Subscriber}}) or t.slot in (select start_slot from {{Checked}})
"""
"""Those that have to be found first: there is no other slot to start from."""

TESTED_CHAINS = """
select step, subject, max(case when operation = 5 and text_value is not null then 1 else 0 end) as asks_text
from {TestSlot}
where step <> 0 and operation <> 0
group by step, subject
"""
"""The chains with a test other than for equality at their end, and whether it is about texts."""

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
select p.node, p.slot from {{Equal}} p where p.step = 0
union all
select v.node, t.slot
from {{XMLValue}} v
join {{EarlyTest}} t on t.subject = v.subject
where {_HOLDS}
union all
select distinct a.high as node, p.slot
from {{XMLAncestor}} a
join (
    {{BatchStep}} c
    join (
        {{XMLNode}} n
        join (select * from {{Equal}} where step <> 0) p on p.node = n.node
    ) on n.path = c.path and p.step = c.step
) on p.node = a.low and c.diff = a.diff
"""
"""Value tests on the node itself, and tests for equality at the end of a chain of steps."""

RANGES = f"""
select v.node, t.slot
from (
    select a.high as node, c.step, c.subject,
           max(v.number_value) as highest, min(v.number_value) as lowest,
           max(case when c.asks_text = 1 then v.text_value end) as last_text,
           min(case when c.asks_text = 1 then v.text_value end) as first_text,
           count(v.number_value) < count(*) as has_no_number, count(v.text_value) < count(*) as has_no_text
    from (
        select s.path, s.diff, s.step, t.subject, t.asks_text
        from {{BatchStep}} s
        join {{TestedChain}} t on t.step = s.step
    ) c
    join ({{XMLValue}} v join {{XMLNode}} n on n.node = v.node) on n.path = c.path and v.subject = c.subject
    join {{XMLAncestor}} a on a.low = v.node and a.diff = c.diff
    group by a.high, c.step, c.subject
) v
join (select * from {{TestSlot}} where step <> 0 and operation <> 0) t
    on t.step = v.step and t.subject = v.subject
where {_HOLDS_FOR_SOME}
"""
"""The other tests at the end of a chain: all values that it leads to are summed up, once for all tests."""

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
join {Pair} p on p.first_slot = f.slot
where p.level = {level}
"""
"""The nodes that have the rarest slot of a pattern of the level."""

PAIRED = f"""
select s.node, s.id, s.others
from {{Fact}} f
join ({STARTED}) s on s.node = f.node and s.second_slot = f.slot
"""
"""Those of them that have the second one too."""

STARTED_CHECKED = """
select f.node, f.slot, s.subject
from {Fact} f
join (select distinct start_slot, subject from {Checked} where level = {level}) s on s.start_slot = f.slot
"""
"""The nodes that have the slot from which patterns start that test the node itself, with what is tested."""

PAIRED_CHECKED = f"""
select f.node, t.id, t.others
from ({STARTED_CHECKED}) f
join {{XMLValue}} v on v.node = f.node and v.subject = f.subject
join (select * from {{Checked}} where level = {{level}}) t on t.start_slot = f.slot and t.subject = f.subject
where {_HOLDS}
"""
"""Those of them that pass the test."""

_OTHERS = """
select s.node, s.id, s.others, f.slot
from {Fact} f
join (
    {OtherSlot} o
    join (select * from {Paired} where others > 0) s on s.id = o.id
) on s.node = f.node and o.slot = f.slot
"""
_OTHER_TESTS = f"""
select s.node, s.id, s.others, t.slot
from {{XMLValue}} v
join (
    {{OtherTest}} t
    join (select * from {{Paired}} where others > 0) s on s.id = t.id
) on s.node = v.node and t.subject = v.subject
where {_HOLDS}
"""

_PATTERNS = """
select s.node, s.id as slot from {{Paired}} s where s.others = 0
union all
select s.node, s.id as slot
from ({others}) s
group by s.node, s.id, s.others
having count(distinct s.slot) = s.others
"""

PATTERNS = _PATTERNS.format(others=_OTHERS)
"""Those of them that have all the others."""

PATTERNS_CHECKED = _PATTERNS.format(others=f"{_OTHERS} union all {_OTHER_TESTS}")
"""The same, some of the others being tests of the node itself."""

RAISED = """
select l.node, n.path, s.step, s.slot
from {Level} l
join {Slot} s on s.low = l.slot
join {XMLNode} n on n.node = l.node
"""
"""The patterns of the level that were found, with the chains of steps that may end there."""

RISEN = """
select r.node, c.diff, r.slot
from {BatchStep} c
join {Raised} r on r.path = c.path and r.step = c.step
"""
"""Those that do end there, and how far above they begin."""

RISING = f"""
select distinct a.high as node, r.slot
from {{XMLAncestor}} a
join {{Risen}} r on r.node = a.low and r.diff = a.diff
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
    join (select * from {{Subscriber}} where pattern % 4 = 1) u on u.pattern = c.step
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
