"""The path summary: which chains of steps end at which path, kept from batch to batch.

Whether a chain of steps leads from one node to another below it depends only on the names on the way, so it
is decided once for each distinct path from the root, however many nodes and documents have it. `PathStep`
says: at the end of `path` ends the chain whose last step is `step`, and it began `diff` levels above. For a
chain from the document node, `diff` is the depth.

A batch with new paths extends the summary, one statement for each level of steps. Steps are tried from where
the step before ended: *near* ones, exactly one level down, at the parent only; *far* ones at all ancestors.
`Open` holds what they are tried from, so the summary is read once, however many levels there are.
"""

from __future__ import annotations

TRIE = """
select s.step, s.parent, s.level, s.high_node, s.low_node, s.min_diff, s.max_diff,
       s.min_diff = 1 and s.max_diff = 1 as is_child,
       coalesce(f.follows, 0) as follows
from {Step} s
left join (
    select parent, max(case when min_diff = 1 and max_diff = 1 then 1 else 0 end)
                   + max(case when min_diff = 1 and max_diff = 1 then 0 else 2 end) as follows
    from {Step}
    group by parent
) f on f.parent = s.step
"""
"""The steps, each with what follows it: 1 near steps, 2 far ones, 3 both; made anew when there are new steps.

One number can be asked for while the summary is read; of two columns all rows would be read first.
"""

STEP_LABELS = "select distinct low_node as label from {Step}"

NO_PATHS = "select x.path from {XMLPath} x where x.path is null"
NO_PATH_STEPS = """
select x.path, x.depth as diff, x.path as step, x.depth as level, x.depth as follows
from {XMLPath} x where x.path is null
"""
"""An empty summary."""

NEW_PATHS = """
select x.path, x.depth, x.name, x.namespace
from {XMLPath} x
where not exists (select 1 from {Path} p where p.path = x.path)
"""
"""The paths of the batch that the summary does not know."""

LABELS = """
select path, name as label from {XMLPath}
union all
select path, '*' as label from {XMLPath} where depth > 0
union all
select path, namespace as label from {XMLPath} where namespace is not null
"""
"""The names that a path answers to: the last one, ``*``, and the ``*`` of its namespace."""

NEW_PAIRS = """
select a.low, a.diff, a.high, l.label
from {XMLPathAncestor} a
join {NewPath} n on n.path = a.low
join {Label} l on l.path = n.path
join {StepLabel} s on s.label = l.label
"""
"""New paths with their ancestors, by the names that they answer to and some step asks for."""

OPEN = """
select s.path, s.diff, s.step, s.level, s.follows, false as is_new
from {PathStep} s
join (select distinct high from {NewPair}) p on p.high = s.path
where s.follows > 0
"""
"""What is known of the ancestors of new paths, where a step follows."""

CLOSED = """
select s.path, s.diff, s.step, s.level, s.follows
from {Open} s
where s.is_new
"""
"""What was found for the new paths."""

FIRST_STEPS = """
select p.low as path, p.diff, t.step, t.level, t.follows, true as is_new
from {NewPair} p
join {Label} h on h.path = p.high
join {Trie} t on t.low_node = p.label and t.high_node = h.label
where t.level = 1 and p.diff >= t.min_diff and p.diff <= t.max_diff
"""
"""Where chains begin."""

_GOING_ON = """
    select s.path, s.diff, t.step, t.level, t.follows, t.low_node, t.min_diff, t.max_diff
    from {{Open}} s
    join (select * from {{Trie}} where level = {{level}} and {which}) t on t.parent = s.step
    where s.level = {{level}} - 1 and s.follows in {follows}
"""
"""The chains of the level before, each with the steps that follow; few of these are found at many paths."""

NEXT_STEPS = f"""
select p.low as path, s.diff + p.diff as diff, s.step, s.level, s.follows, true as is_new
from {{NewPair}} p
join ({_GOING_ON.format(which="is_child", follows="(1, 3)")}) s on s.path = p.high and s.low_node = p.label
where p.diff = 1
union all
select distinct p.low as path, s.diff + p.diff as diff, s.step, s.level, s.follows, true as is_new
from {{NewPair}} p
join ({_GOING_ON.format(which="not is_child", follows="(2, 3)")}) s
    on s.path = p.high and s.low_node = p.label
where p.diff >= s.min_diff and p.diff <= s.max_diff
"""
"""Where they go on; a chain may come to the same end on several ways."""
