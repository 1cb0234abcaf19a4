"""Fetching the archives: what is missing is one sentence, and never holds up the other tests."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.kafka import jars

TOOLS = ("bash", "env", "dirname", "mkdir", "rm", "mv", "touch", "cat", "sha256sum")
MAVEN = """#!/usr/bin/env bash
for argument; do [[ $argument != -DoutputDirectory=* ]] || folder=${argument#*=}; done
mkdir -p "$folder"
touch "$folder/new.jar"
exit STATUS
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout, and in ``path`` all the programs of a machine on which Maven and Java work."""
    (tmp_path / "tools/jars").mkdir(parents=True)
    for name in ("fetch", "pom.xml"):
        shutil.copy(jars.ROOT / "tools/jars" / name, tmp_path / "tools/jars")
    empty = hashlib.sha256().hexdigest()
    (tmp_path / "tools/jars/checksums.sha256").write_text(f"{empty}  new.jar\n")
    (tmp_path / "path").mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found
        (tmp_path / "path" / tool).symlink_to(found)
    program(tmp_path, "java", "#!/usr/bin/env bash\necho 'openjdk version \"17.0.15\" 2025-04-15' >&2\n")
    program(tmp_path, "mvn", MAVEN.replace("STATUS", "0"))
    (tmp_path / ".jars/kafka").mkdir(parents=True)
    (tmp_path / ".jars/kafka/old.jar").touch()
    return tmp_path


def program(checkout: Path, name: str, text: str) -> None:
    path = checkout / "path" / name
    path.write_text(text)
    path.chmod(0o755)


def fetch(checkout: Path) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    return subprocess.run(
        [str(checkout / "path/bash"), str(checkout / "tools/jars/fetch"), "kafka"],
        env=environment | {"PATH": str(checkout / "path")},
        capture_output=True,
        text=True,
        check=False,
    )


def held(checkout: Path) -> set[str]:
    return {str(path.relative_to(checkout / ".jars")) for path in (checkout / ".jars").rglob("*.*")}


def test_new_archives_take_the_place_of_the_old(checkout: Path) -> None:
    done = fetch(checkout)
    assert (done.returncode, done.stderr) == (0, "")
    assert held(checkout) == {"kafka/new.jar"}
    assert (checkout / ".jars/kafka/fetched").exists()


@pytest.mark.parametrize("listed", ["", f"{'0' * 64}  new.jar\n"])
def test_an_archive_that_is_not_the_expected_one_is_not_used(checkout: Path, listed: str) -> None:
    (checkout / "tools/jars/checksums.sha256").write_text(listed)
    done = fetch(checkout)
    assert done.returncode == 1
    assert "new.jar is not what checksums.sha256 expects" in done.stderr
    assert held(checkout) == {"kafka/old.jar"}


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("mvn", None, "there is no mvn; install Maven"),
        ("mvn", MAVEN.replace("STATUS", "1"), "Maven could not fetch the archives; .jars/kafka.log says why"),
        ("java", None, "there is no java; install Java 17"),
        ("java", "#!/usr/bin/env bash\necho 'java version \"1.8.0_202\"' >&2\n", "java is version 1, and 17"),
        ("java", "#!/usr/bin/env bash\necho hello\n", "java -version names no version"),
    ],
)
def test_one_sentence_and_the_old_archives_stay(
    checkout: Path, name: str, text: str | None, sentence: str
) -> None:
    (checkout / "path" / name).unlink()
    if text is not None:
        program(checkout, name, text)
    done = fetch(checkout)
    assert done.returncode == 0
    assert done.stderr.startswith(f"The tests against a real server will be skipped (kafka): {sentence}")
    assert len(done.stderr.splitlines()) == 1
    assert held(checkout) - {"kafka.log"} == {"kafka/old.jar"}
    assert not (checkout / ".jars/kafka/fetched").exists()


def test_the_reason_names_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(jars, "ROOT", tmp_path)
    monkeypatch.setattr(jars, "BROKER", tmp_path / ".jars/kafka")
    monkeypatch.setattr(jars, "java", lambda: "java")
    assert jars.missing_broker() == ".jars/kafka is empty: make jars fetches a Kafka broker (it needs Maven)"
    monkeypatch.setattr(jars, "java", lambda: None)
    assert jars.missing_broker() == "a Kafka broker needs Java 17 or newer, and there is no java on the path"
