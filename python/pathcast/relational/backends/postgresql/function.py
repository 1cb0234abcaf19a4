"""The function that matches a batch of documents on the server, made from the statements of every backend.

The temporary tables of a run belong to the connection and are emptied, not dropped: making a table costs more
than filling it. Statements run by `execute`, which plans them for the tables as they are now. The planner
takes the size of a table from its pages, so most tables of a batch need no `analyze`. The facts get one,
so that the larger table is not the one that is hashed. What stays gets one when it is made, and the path
summary when it has doubled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pathcast.relational.sql import names, program, summary

NAME = "pathcast_run_5"
VERSION = ("LeafSlot", "TestSlot", "UpperSlot", "Checked", "Pair", "OtherTest", "EarlyTest", "TestedChain")
"""What depends on the subscriptions alone."""


class _Recorder:
    """A session that writes down what it is told to do, as PL/pgSQL."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.made: dict[str, str] = {}

    def load(self, name: str, rows: object) -> None:
        """Rows are copied into the tables before the function is called."""

    def make(self, name: str, query: str, level: int = 0) -> None:
        """Empties the table and fills it."""
        self.made.setdefault(name, query)
        self.lines.append(f"truncate {names.run_table(name)};")
        self.grow(name, query, level)

    def has_rows(self, name: str) -> bool:
        """Asked by the function itself."""
        return True

    def grow(self, name: str, query: str, level: int = 0) -> None:
        """Adds to the table."""
        using = " using level" if "{level}" in query else ""
        text = names.filled(query.replace("{level}", "$1")).strip()
        self.lines.append(f"execute $q$insert into {names.run_table(name)} {text}$q${using};")


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
    program.extend_summary(recorder, 2)
    program.find_facts(recorder, 1, with_values=True)
    yield from recorder.made.items()


def text() -> str:
    """The function as the server is told it."""
    recorder = _Recorder()
    recorder.make("NewPath", summary.NEW_PATHS)
    parts = {
        "begin": _recorded(program.begin_summary) + _analysed("Trie", "StepLabel"),
        "version": _recorded(program.begin_version) + _analysed(*VERSION),
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
    known bigint;
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
    select relpages::bigint * 8192 into known from pg_class where oid = '{path_step}'::regclass;
    if size > 2 * known then
        analyze {path_step};
    end if;
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
