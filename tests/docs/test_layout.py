"""The walls between the rooms, as ARCHITECTURE.md draws them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
CORE = ROOT / "crates/pathcast-core"

BLOCKED = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
{statement}
assert not {blocked!r} & set(sys.modules)
"""

OPTIONAL = {"pyarrow", "lxml", "pyspark", "duckdb", "psycopg", "confluent_kafka", "cryptography", "fastapi"}


def test_the_core_knows_no_python() -> None:
    manifest = tomllib.loads((CORE / "Cargo.toml").read_text(encoding="utf-8"))
    tables = [manifest, *manifest.get("target", {}).values()]
    for table in tables:
        for kind in ("dependencies", "dev-dependencies", "build-dependencies"):
            assert not [name for name in table.get(kind, {}) if "pyo3" in name]
    for source in CORE.rglob("*.rs"):
        assert "pyo3" not in source.read_text(encoding="utf-8"), source


def test_the_core_forbids_unsafe_code() -> None:
    assert "#![forbid(unsafe_code)]" in (CORE / "src/lib.rs").read_text(encoding="utf-8")


def test_the_binding_has_stubs() -> None:
    """Without the file the stub check of ``make lint`` has nothing to compare and passes."""
    assert (ROOT / "python/pathcast/_core.pyi").exists()


@pytest.mark.parametrize(
    "statement", ["import pathcast", "import pathcast.cli", "import pathcast.subscriptions"]
)
def test_optional_dependencies_are_not_needed(statement: str) -> None:
    program = BLOCKED.format(blocked=OPTIONAL, statement=statement)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("room", "missing", "extra"),
    [
        ("pathcast.spark", "pyarrow", "spark"),
        ("pathcast.spark", "pyspark", "spark"),
        ("pathcast.network.transports.kafka", "confluent_kafka", "kafka"),
        ("pathcast.reference", "lxml", "reference"),
    ],
)
def test_who_imports_a_room_without_its_extra_is_told_which(room: str, missing: str, extra: str) -> None:
    program = BLOCKED.format(blocked={missing}, statement=f"import {room}")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert f"{room} needs {missing}: pip install 'pathcast[{extra}]'" in done.stderr.splitlines()[-1]


def test_a_library_needs_no_command_line() -> None:
    program = BLOCKED.format(blocked={"typer", "rich"}, statement="import pathcast")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_locks_name_no_index() -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock
    assert all(
        "--hash=sha256:" in lock.split(line, 1)[1][:200] for line in re.findall(r"^\S+==.*$", lock, re.M)
    )


def test_only_transports_open_a_socket() -> None:
    """In the network, that is; Spark's sink and source and the service use topics too."""
    package = ROOT / "python/pathcast"
    for source in package.rglob("*.py"):
        name = source.relative_to(package).as_posix()
        if name.startswith(
            (
                "network/transports/kafka/",
                "network/transports/monitor.py",
                "network/transports/overview.py",
                "spark/worker/kafka.py",
                "spark/worker/topics.py",
                "service/kafka/",
            )
        ):
            continue
        names = (
            "confluent_kafka|socket|ssl|http|urllib.request"
            if name.startswith("network/")
            else "confluent_kafka"
        )
        text = source.read_text(encoding="utf-8")
        found = re.findall(rf"^\s*(?:import|from) (?:{names})\b", text, re.M)
        assert not found, f"{name}: {found}"


def test_files_stay_short() -> None:
    long = {
        str(source.relative_to(ROOT)): lines
        for folder, ending in (("bench", "*.py"), ("demo", "*.py"), ("python", "*.py"), ("crates", "*.rs"))
        for source in (ROOT / folder).rglob(ending)
        if (lines := source.read_text(encoding="utf-8").count("\n")) > 600
    }
    assert not long, "at 600 lines a file is split"


def test_development_code_is_not_installed() -> None:
    """Benchmarks, the demo and tests stand beside the package, which knows nothing of them."""
    assert [path.name for path in (ROOT / "python").iterdir()] == ["pathcast"]
    for source in (ROOT / "python/pathcast").rglob("*.py"):
        found = re.findall(
            r"^\s*(?:import|from) (?:bench|demo|tests)\b", source.read_text(encoding="utf-8"), re.M
        )
        assert not found, f"{source}: {found}"
