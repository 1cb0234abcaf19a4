"""The SQL that takes out what nobody uses any more, by counting references where subscriptions were removed.

`Loose` holds the numbers of steps, slots, patterns and predicates that have lost a user. Of these, the ones
without any user are deleted, and what they used is loose in turn. Nothing else is looked at.
"""

from __future__ import annotations

REMOVED = (
    "select distinct s.pattern as number from {Subscriber} s join {Gone} g on g.subscription = s.subscription"
)
"""What the removed subscriptions used."""

EVERYTHING = """
select slot as number from {Slot} union all select id as number from {Pattern}
union all select step as number from {Step} union all select predicate as number from {Predicate}
"""
"""For a check of all rows."""

SUBSCRIPTIONS = (
    "delete from {Subscriber} where subscription in (select subscription from {Gone})",
    "delete from {Subscription} where subscription in (select subscription from {Gone})",
)

_USED = """not exists (select 1 from {{Subscriber}} u where u.pattern = {number})
and not exists (select 1 from {{Pattern}} u where u.first_slot = {number})
and not exists (select 1 from {{Pattern}} u where u.second_slot = {number})
and not exists (select 1 from {{OtherSlot}} u where u.slot = {number})"""

FREE_SLOTS = f"""
select s.slot, s.step, s.low
from {{Slot}} s
join {{Loose}} l on l.number = s.slot
where {_USED.format(number="s.slot")}
"""

AFTER_SLOTS = "select low as number from {Free} union select step as number from {Free}"

FREE_PATTERNS = """
select p.id, p.first_slot, p.second_slot
from {Pattern} p
join {Loose} l on l.number = p.id
where not exists (select 1 from {Subscriber} u where u.pattern = p.id)
and not exists (select 1 from {Slot} u where u.low = p.id)
"""

AFTER_PATTERNS = """
select first_slot as number from {Free} union select second_slot as number from {Free}
union select o.slot as number from {OtherSlot} o join {Free} f on f.id = o.id
"""

FREE_STEPS = f"""
select s.step, s.parent
from {{Step}} s
join {{Loose}} l on l.number = s.step
where s.level = {{level}} and {_USED.format(number="s.step")}
and not exists (select 1 from {{Slot}} u where u.step = s.step)
and not exists (select 1 from {{Step}} u where u.parent = s.step)
"""

AFTER_STEPS = "select parent as number from {Free} where parent <> 0"

PREDICATES = (
    "delete from {Predicate} where predicate in (select number from {Loose}) "
    "and not exists (select 1 from {Slot} u where u.low = predicate)",
    "delete from {Subject} where not exists "
    "(select 1 from {Predicate} u where u.subject = {Subject}.subject)",
)
