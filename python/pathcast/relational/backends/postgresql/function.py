"""The function that matches a batch of documents on the server, made from the statements of every backend.

The temporary tables of a run belong to the connection and are emptied, not dropped: making a table costs more
than filling it. Statements run by `execute`, which plans them for the tables as they are now. Most tables of
a run have no statistics: the planner then takes their sizes from their pages and hashes the smaller of two.
With statistics it sees that many rows share a value of one column, not that two columns together tell them
apart, and hashes the larger one. Only the facts get some, so that the planner knows how many of them a
pattern may have.

The path summary differs from that of other backends in what is written: chains that end at new paths go to
the summary and to the batch at once, and only those that go on to where the next level looks for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pathcast.relational.sql import names, program, steps, summary

NAME = "pathcast_run_6"

_NO_PATH_STEPS = "select x.path, x.depth as diff, x.path as step from {XMLPath} x where x.path is null"
_OPEN = """
select s.path, s.diff, s.step, t.level, t.follows, false as is_new
from {BatchStep} s
join {Trie} t on t.step = s.step
join (select distinct high from {NewPair}) p on p.high = s.path
where t.follows > 0
"""
_FOUND = """with found as materialized ({query}),
known as (insert into {PathStep} select path, diff, step from found),
batch as (insert into {BatchStep} select path, diff, step from found)
insert into {Open} select * from found where follows > 0"""
_OWN = {summary.NO_PATH_STEPS: _NO_PATH_STEPS, summary.OPEN: _OPEN}
"""Statements that are others here: ancestors of new paths are in the batch, so their chains are too."""
_DONE = {summary.CLOSED, steps.BATCH_STEPS}
"""Statements whose rows are there already."""


class _Recorder:
    """A session that writes down what it is told to do, as PL/pgSQL."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.made: dict[str, str] = {}

    def load(self, name: str, rows: object) -> None:
        """Rows are copied into the tables before the function is called."""

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Empties the table and fills it."""
        self.made.setdefault(name, _OWN.get(query, query))
        if query not in _DONE:
            self.fill(name, query, level)

    def fill(self, name: str, query: str, level: int = 0) -> None:
        """The same, whatever is there."""
        self.lines.append(f"truncate {names.run_table(name)};")
        self.grow(name, query, level)

    def has_rows(self, name: str) -> bool:
        """Asked by the function itself."""
        return True

    def grow(self, name: str, query: str, level: int = 0) -> None:
        """Adds to the table."""
        if query == summary.CLOSED:
            return
        insert = f"insert into {{{name}}} {_OWN.get(query, query).strip()}"
        if query in {summary.FIRST_STEPS, summary.NEXT_STEPS}:
            insert = _FOUND.replace("{query}", query)
        using = " using level" if "{level}" in query else ""
        self.lines.append(f"execute $q${names.filled(insert.replace('{level}', '$1'))}$q${using};")


def _recorded(part: Callable[..., None], *arguments: int) -> list[str]:
    recorder = _Recorder()
    part(recorder, *arguments)
    return recorder.lines


def _analysed(*tables: str) -> list[str]:
    return [f"analyze {names.run_table(table)};" for table in tables]


def made() -> Iterator[tuple[str, str]]:
    """The tables of a run, each with a query that has its columns, in an order in which they can be made."""
    recorder = _Recorder()
    program.begin_summary(recorder)
    program.begin_version(recorder)
    recorder.make("NewPath", summary.NEW_PATHS)
    recorder.make("BatchStep", steps.BATCH_STEPS)
    program.extend_summary(recorder, 2)
    program.find_facts(recorder, 1, with_values=True)
    yield from recorder.made.items()


def text() -> str:
    """The function as the server is told it."""
    recorder = _Recorder()
    recorder.make("NewPath", summary.NEW_PATHS)
    recorder.fill("BatchStep", steps.BATCH_STEPS)
    parts = {
        "begin": _recorded(program.begin_summary),
        "version": _recorded(program.begin_version),
        "new": recorder.lines,
        "start": _recorded(program.first_steps),
        "next": _recorded(program.next_steps, 0),
        "last": _recorded(program.last_steps),
        "leaves": _recorded(program.leaves),
        "tests": _recorded(program.tests),
        "keep": _analysed("Base") + _recorded(program.keep) + _analysed("Fact"),
        "first": _recorded(program.first_patterns),
        "patterns": _recorded(program.patterns, 0),
    }
    path_step, new_path, level = map(names.run_table, ("PathStep", "NewPath", "Level"))
    filled = {name: "\n".join(lines) for name, lines in parts.items()}
    return f"""create or replace function {NAME}(
    is_fresh boolean, is_changed boolean, step_levels integer, may_stay boolean, levels integer,
    with_values boolean
) returns bigint language plpgsql as $pathcast$
declare
    deepest integer;
    size bigint;
    is_found boolean;
begin
    if is_fresh then
{filled["begin"]}
    end if;
    if is_changed then
{filled["version"]}
    end if;
{filled["new"]}
    execute 'select max(depth) from {new_path}' into deepest;
    if deepest is not null then
{filled["start"]}
        for level in 2 .. case when may_stay then step_levels else least(step_levels, deepest) end loop
{filled["next"]}
        end loop;
{filled["last"]}
    end if;
    size := pg_relation_size('{path_step}');
{filled["leaves"]}
    if with_values then
{filled["tests"]}
    end if;
{filled["keep"]}
    for level in 1 .. levels loop
        if level = 1 then
{filled["first"]}
        else
{filled["patterns"]}
        end if;
        execute 'select exists (select 1 from {level})' into is_found;
        exit when not is_found;
    end loop;
    return size;
end
$pathcast$"""
