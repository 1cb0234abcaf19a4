"""The SQL of a match: named statements that every backend runs, in terms of SQL-92.

A name in braces is a table. Those of the subscriptions stay, those of a batch of documents are made for the
run; `tables` says what is in them. No statement is recursive, none joins without an equality on both sides,
and no value is pasted into a text: values come from tables. Only the number of a level is filled in.

A statement joins two tables, no more. Of three that share a column a planner may join first the two that have
nothing else in common: nodes with nodes of the same document took 16 seconds for 12,000 nodes.

The run is bottom-up. A pattern's level is its height, so when level *i* is matched, everything below is.
`Kept` gathers which node of which document fits which pattern. Per level:

1. **frame matching** finds, for the edges of the level, pairs of document nodes that fit the names and depth
   differences at their ends. Each distinct frame was looked for once (`FRAMES`); here the edges join back.
2. **predicate matching** adds the value tests of the level, found the same way (`PREDICATES`).
3. **neighbour pruning** keeps a pair only if the pattern at its lower end was kept for its lower node.
4. **branching-point pruning** keeps a node only if all branches of the pattern were found *at this node*: it
   groups by document, pattern and start point. Per subscription it would join branches under different nodes.
5. **cutting** notes which patterns a document has at all. The next levels look at no edge whose lower pattern
   is not among them. Without it the answer is the same.
"""

from __future__ import annotations

NAMES = """
select high_node as label from {Frame}
union
select low_node as label from {Frame}
union
select node as label from {Predicate}
"""
"""The names that subscriptions ask for."""

LABELS = """
select x.document, x.start_point, x.node as label
from {XMLFrame} x
join {Name} n on n.label = x.node
union all
select x.document, x.start_point, n.label
from {XMLFrame} x
join {Name} n on n.label = case when x.depth > 0 then '*' end
union all
select x.document, x.start_point, x.namespace as label
from {XMLFrame} x
join {Name} n on n.label = x.namespace
"""
"""The names that a node answers to, of those asked for: its own, ``*``, and the ``*`` of its namespace."""

VALUES = """
select document, start_point, name, text_value, number_value from {XMLValue}
union all
select document, start_point, '@*' as name, text_value, number_value from {XMLValue} where name like '@%'
union all
select document, start_point, namespace as name, text_value, number_value
from {XMLValue} where namespace is not null
"""
"""The same for the values of nodes: an attribute answers to its name, ``@*``, and that of its namespace."""

LOWS = """
select a.document, a.high_start, a.low_start, a.depth_diff, low.label as low_node
from {XMLAncestor} a
join {Label} low on low.document = a.document and low.start_point = a.low_start
"""
"""Nodes by name, each with its ancestors."""

PAIRS = """
select a.document, a.high_start, a.low_start, a.depth_diff, high.label as high_node, a.low_node
from {Low} a
join {Label} high on high.document = a.document and high.start_point = a.high_start
"""
"""Nodes and their ancestors, both by name."""

FRAMES = """
select f.frame, p.document, p.high_start, p.low_start
from {Pair} p
join {Frame} f on f.high_node = p.high_node and f.low_node = p.low_node
where p.depth_diff >= f.min_diff and p.depth_diff <= f.max_diff
"""
"""Where each distinct frame is, once for all subscriptions that have it."""

NODE_VALUES = """
select v.document, v.start_point, v.name, v.text_value, v.number_value, n.label as node
from {Value} v
join {Label} n on n.document = v.document and n.start_point = v.start_point
"""
"""The values with the names of their nodes."""

PREDICATES = """
select p.predicate, v.document, v.start_point
from {NodeValue} v
join {Predicate} p on p.node = v.node and p.name = v.name and p.text_value = v.text_value
where p.operation = 0
union all
select p.predicate, v.document, v.start_point
from {NodeValue} v
join {Predicate} p on p.node = v.node and p.name = v.name and p.number_value = v.number_value
where p.operation = 0
union all
select p.predicate, v.document, v.start_point
from {NodeValue} v
join {Predicate} p on p.node = v.node and p.name = v.name
where p.operation = 6
   or p.operation = 1 and v.number_value > p.number_value
   or p.operation = 2 and v.number_value >= p.number_value
   or p.operation = 3 and v.number_value < p.number_value
   or p.operation = 4 and v.number_value <= p.number_value
   or p.operation = 5 and p.text_value is not null and (v.text_value <> p.text_value or v.text_value is null)
   or p.operation = 5 and p.number_value is not null
      and (v.number_value <> p.number_value or v.number_value is null)
"""
"""Where each distinct value test is passed.

A text that is too long to be kept is null: it equals no constant and differs from all. A value that is no
number is null as number, which XPath's NaN is: only ``!=`` holds.
"""

ALWAYS = """
select document, cast(0 as bigint) as id, start_point from {XMLFrame} where depth = 0
"""
"""The pattern 0 asks nothing; the virtual document node of every document has it."""

FRAME_MATCHING = """
select m.document, e.id, e.branch, e.branches, m.high_start, m.low_start, e.low_id
from {XPathFrame} e
join {FrameMatch} m on m.frame = e.frame
where e.level = {level} and not e.is_final
"""
"""1. The edges of a level, wherever their frames are."""

NOT_CUT = """
select x.document, e.id, e.branch, e.branches, e.frame, e.low_id
from {XPathFrame} e
join {MatchedXPath} x on x.id = e.low_id
where e.level = {level} and not e.is_final
"""
"""1. The edges of a level whose lower pattern the document has."""

FRAME_MATCHING_WHERE_NOT_CUT = """
select m.document, e.id, e.branch, e.branches, m.high_start, m.low_start, e.low_id
from {NotCut} e
join {FrameMatch} m on m.frame = e.frame and m.document = e.document
"""
"""1. These, wherever their frames are."""

FINAL_FRAME_MATCHING = """
select m.document, e.id, e.branch, e.branches, m.high_start, m.low_start, cast(null as bigint) as low_id
from {XPathFrame} e
join {FrameMatch} m on m.frame = e.frame
where e.level = {level} and e.is_final
"""
"""1. Edges that end in a leaf: nothing hangs below, so nothing can be cut."""

PREDICATE_MATCHING = """
select m.document, t.id, t.branch, t.branches, m.start_point as high_start, m.start_point as low_start,
       cast(null as bigint) as low_id
from {XPathPred} t
join {PredicateMatch} m on m.predicate = t.predicate
where t.level = {level}
"""
"""2. The value tests of a level, wherever they are passed."""

NEIGHBOUR_PRUNING = """
select m.document, m.id, m.branch, m.branches, m.high_start
from {XMLMatch} m
left join {Kept} k on k.document = m.document and k.id = m.low_id and k.start_point = m.low_start
where m.low_id is null or k.id is not null
"""
"""3. What ends in a leaf or a value, or in a node that has what hangs below."""

BRANCHING_POINT_PRUNING = """
select document, id, high_start as start_point
from (select distinct document, id, branch, branches, high_start from {Neighbour}) as found
group by document, id, high_start, branches
having count(*) = branches
"""
"""4. The nodes at which all branches of a pattern were found."""

KEEPING = """
select document, id, start_point from {Level}
"""
"""What was found at a level joins what was found below."""

CUTTING = """
select distinct document, id from {Level}
"""
"""5. The patterns that a document has."""

MATCHES = """
select k.document, s.subscription
from {Kept} k
join {Subscriber} s on s.pattern = k.id
where s.is_exact and not s.is_several
union all
select distinct k.document, s.subscription
from {Kept} k
join {Subscriber} s on s.pattern = k.id
where s.is_exact and s.is_several
"""
"""Who gets what: a document satisfies a subscription if it has one of the patterns that say all of it."""

CANDIDATES = """
select k.document, s.subscription
from {Kept} k
join {Subscriber} s on s.pattern = k.id
where not s.is_exact
except
select k.document, s.subscription
from {Kept} k
join {Subscriber} s on s.pattern = k.id
where s.is_exact and s.is_several
"""
"""What the expression itself has to decide: the pattern that was found says less than it does."""

DEFINITIONS = """
select s.subscription, s.definition
from {Subscription} s
where s.subscription in (select c.subscription from {Candidate} c)
"""
"""The expressions of the candidates."""
