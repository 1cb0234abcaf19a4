"""The SQL of a match: named statements that every backend runs.

A name in braces is a table; `tables` says what is in it. No statement is recursive, none joins without an
equality, and no value is pasted into a text: values come from tables. Only the level is filled in.

The run is bottom-up. `Fact` gathers which node fills which slot, beginning with those that need no pattern:

- `LEAVES`: a chain of steps with nothing at its end. It is enough that there is such a path below the node.
- `PASSED`, `TESTS`: a chain of steps, or none, with a value test at its end.

Then, for each level of patterns:

- `STARTED` finds the nodes that have the rarest slot of a pattern, `PATTERNS` those of them that have the
  others too. So few rows are looked up.
- `RISING` takes a pattern that was found to where the chains of steps begin that it is the end of.

Databases are told to keep the order of the joins. The right side of a join is the one that is expected to be
small: a table is made of it in memory, which the rows of the left side are looked up in.

The slots of a pattern are filled at one and the same node: this is the branching-point check of the paper.
"""

from __future__ import annotations

from pathcast.relational.settings import NODE_BITS

PASSED = """
select v.node, p.predicate
from {XMLValue} v
join {Predicate} p on p.subject = v.subject and p.text_value = v.text_value
where p.operation = 0
union all
select v.node, p.predicate
from {XMLValue} v
join {Predicate} p on p.subject = v.subject and p.number_value = v.number_value
where p.operation = 0
union all
select v.node, p.predicate
from {XMLValue} v
join {Predicate} p on p.subject = v.subject
where p.operation <> 0 and (
   p.operation = 6
   or p.operation = 1 and v.number_value > p.number_value
   or p.operation = 2 and v.number_value >= p.number_value
   or p.operation = 3 and v.number_value < p.number_value
   or p.operation = 4 and v.number_value <= p.number_value
   or p.operation = 5 and p.text_value is not null and (v.text_value <> p.text_value or v.text_value is null)
   or p.operation = 5 and p.number_value is not null
      and (v.number_value <> p.number_value or v.number_value is null))
"""
"""Which node passes which value test.

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

TESTS = """
select p.node, s.slot
from {Passed} p
join {Slot} s on s.low = p.predicate
where s.step = 0
union all
select distinct a.high as node, s.slot
from {Passed} p
join {Slot} s on s.low = p.predicate
join {XMLNode} n on n.node = p.node
join {BatchStep} c on c.path = n.path and c.step = s.step
join {XMLAncestor} a on a.low = p.node and a.diff = c.diff
where s.step <> 0
"""
"""Value tests on the node itself, and at the end of a chain of steps."""

STARTED = """
select f.node, p.id, p.second_slot, p.others
from {Fact} f
join {Pattern} p on p.first_slot = f.slot
where p.level = {level}
"""
"""The nodes that have the rarest slot of a pattern of the level."""

PATTERNS = """
select s.node, s.id as slot
from {Fact} f
join {Started} s on s.node = f.node and s.second_slot = f.slot
where s.others = 0
union all
select s.node, s.id as slot
from {Fact} g
join (
    {OtherSlot} o
    join ({Fact} f join {Started} s on s.node = f.node and s.second_slot = f.slot) on s.id = o.id
) on s.node = g.node and o.slot = g.slot
where s.others > 0
group by s.node, s.id, s.others
having count(distinct g.slot) = s.others
"""
"""Those of them that have all the others."""

RISING = """
select distinct a.high as node, s.slot
from {XMLAncestor} a
join (
    {BatchStep} c
    join (
        {XMLNode} n
        join ({Slot} s join {Level} l on l.slot = s.low) on l.node = n.node
    ) on n.path = c.path and s.step = c.step
) on l.node = a.low and c.diff = a.diff
"""
"""Where the chains of steps begin at whose end a pattern of the level was found."""

_PATHS = f"(select node, path, diff from {{XMLBelow}} where node % {1 << NODE_BITS} = 0)"
"""The paths of whole documents: the number of a document node ends in zeros."""

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
from {{Fact}} f
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
select d.node, t.subscription, false as is_exact
from {{LastName}} t
join (
    select distinct b.node, l.label
    from {{Label}} l
    join {_PATHS} b on b.path = l.path
) d on d.label = t.label
"""
"""What may match, by names alone."""

DEFINITIONS = """
select s.subscription, s.definition
from {Subscription} s
join {Asked} a on a.subscription = s.subscription
"""
"""The expressions of candidates."""
