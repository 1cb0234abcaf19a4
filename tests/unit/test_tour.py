"""The script that uses all of it, and the interpreters that it can run in."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TOUR = Path(__file__).parents[2] / "examples/library_tour.py"


def test_the_tour() -> None:
    pytest.importorskip("xmlschema")
    done = subprocess.run([sys.executable, TOUR], capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "done"


IN_A_SUBINTERPRETER = """
import importlib
import pathcast
interpreters = importlib.import_module({name!r})
made = interpreters.create()
try:
    told = interpreters.run_string(made, "import pathcast; assert pathcast.matches('//a', '<a/>')")
    print("answered" if told is None else told.formatted)
except Exception as error:
    print(error)
interpreters.destroy(made)
"""


def test_a_subinterpreter_answers_or_is_refused_with_a_sentence() -> None:
    """Python lets the module in beside a shared global lock; elsewhere the import is an error."""
    names = [name for name in ("_interpreters", "_xxsubinterpreters") if importlib.util.find_spec(name)]
    if not names:
        pytest.skip("this Python has no subinterpreters")
    code = IN_A_SUBINTERPRETER.format(name=names[0])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "answered\n" or ("ImportError" in done.stdout and "subinterpreter" in done.stdout)


def test_without_a_global_lock_it_stays_off() -> None:
    enabled = getattr(sys, "_is_gil_enabled", None)
    if enabled is None or "free-threading" not in sys.version:
        pytest.skip("this Python has a global lock")
    import pathcast

    assert pathcast.engines()
    assert not enabled()
