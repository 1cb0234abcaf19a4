"""A standalone cluster of two workers runs the wheel from a packed environment, as docs/spark.md says.

Nothing of the checkout is on the path of driver or executors, except for pyspark, which is 400 MB. The lines
that make and pack the environment are those of the page, with the wheel in the place of the package's name.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import sysconfig
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

import pyspark

import pathcast
from tests.kafka import jars
from tests.spark.faulty import START, VERSIONS, documents, expected, put
from tests.spark.processes import QUICK, ROOT, Program, free_port, spark_class

pytestmark = [
    pytest.mark.skipif(
        "PATHCAST_WHEEL" not in os.environ,
        reason="PATHCAST_WHEEL names no wheel to run on a cluster: make cluster builds one",
    ),
    pytest.mark.skipif(jars.java() is None, reason="Spark needs Java, and there is none"),
]

PAGE = ROOT / "docs/spark.md"
HOME = Path(pyspark.__file__).parent


@dataclass(frozen=True)
class Packed:
    """An environment with the wheel in it, and the same as an archive."""

    python: Path
    archive: Path


def documented() -> list[str]:
    """The lines of the page that make and pack an environment."""
    lines = re.findall(r"^ *((?:python -m venv|environment/bin/pip|tar) .*)$", PAGE.read_text(), re.MULTILINE)
    assert [line.split()[0] for line in lines] == ["python", "environment/bin/pip", "tar"]
    return lines


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Packed:
    folder = tmp_path_factory.mktemp("packed")
    wheel = os.environ["PATHCAST_WHEEL"]
    # The locked versions, without hashes: a wheel that was built here has none in the lock.
    lock = (ROOT / "requirements.lock").read_text()
    pins = [pin.strip() for pin in re.findall(r"^[A-Za-z0-9][^ ]*==[^\\\n]*", lock, re.MULTILINE)]
    (folder / "constraints.txt").write_text("\n".join(pins))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    settings = {
        "PIP_CONSTRAINT": str(folder / "constraints.txt"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PATH": path,
    }
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | settings
    for line in documented():
        command = re.sub(r"'pathcast(\[[a-z,]*\])'", rf"'{wheel}\1'", line)
        subprocess.run(["bash", "-ec", command], cwd=folder, env=clean, check=True)
    # Behind the packed archive: the driver has pyspark too, from the checkout.
    (library,) = (folder / "environment/lib").glob("python*/site-packages")
    (library / "checkout.pth").write_text(sysconfig.get_path("purelib"))
    return Packed(folder / "environment/bin/python", folder / "environment.tar.gz")


def test_a_cluster_runs_the_wheel_from_a_packed_environment(packed: Packed, tmp_path: Path) -> None:
    made = documents(400)
    put(tmp_path / "in", made, 100)
    (tmp_path / "subscriptions.json").write_text(json.dumps(VERSIONS))
    with ExitStack() as stack:
        port = free_port()
        local = ("--host", "127.0.0.1", "--webui-port", "0")
        master = stack.enter_context(
            spark_class(tmp_path, "master.Master", "--port", str(port), *local, checkout=False)
        )
        master.until(lambda: "elected leader" in master.last_lines(), "leading master", START)
        for number in range(2):
            size = ("--cores", "1", "--memory", "700m", "--work-dir", str(tmp_path / f"work-{number}"))
            words = (*size, *local, f"spark://127.0.0.1:{port}")
            worker = stack.enter_context(spark_class(tmp_path, "worker.Worker", *words, checkout=False))
            worker.until(lambda log=worker: "Successfully registered" in log.last_lines(), "worker", START)  # type: ignore[misc]
        program = stack.enter_context(submitted(packed, tmp_path, port))
        program.until((tmp_path / "kill").exists, "two versions", 2 * START)
        kill_executor(tmp_path / "work-0")
        (tmp_path / "killed").touch()
        program.finish(2 * START)
    found = json.loads((tmp_path / "found.json").read_text())
    # Both run the wheel, and not the checkout.
    assert found["driver"].startswith(str(packed.python.parents[1]))
    assert len(found["workers"]) == 2
    for place in found["workers"]:
        assert re.search(r"/work-[01]/.*/environment/lib/", place)
    answers = [expected(made, number) for number in (0, 1)]
    wanted = [
        sorted([number, each] for number, ids in answer.items() for each in ids or ()) for answer in answers
    ]
    assert found["matches"] == wanted[0]
    assert found["dead"] == [number for number, ids in answers[0].items() if ids is None]
    assert found["removed"]
    assert found["kept"] == found["needed"]
    assert found["range"] == found["range again"] == 10
    assert found["matches again"] == wanted[1]
    assert found["streamed"] == wanted[1]
    doctor = {each["what"]: each for each in found["doctor"]}
    assert not [each for each in found["doctor"] if each["advice"]]
    assert doctor["pathcast on executors"]["found"] == pathcast.__version__
    assert "Java of executors" in doctor
    assert doctor["index folder"]["found"] == "seen by all executors"


def submitted(packed: Packed, folder: Path, port: int) -> Program:
    """The job, started as the page says."""
    settings = {
        "spark.pyspark.python": "environment/bin/python",
        "spark.pyspark.driver.python": str(packed.python),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.executor.cores": "1",
        "spark.cores.max": "2",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",  # jobs wait for both
        "spark.executor.extraJavaOptions": QUICK,
        "spark.driver.extraJavaOptions": QUICK,
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
    }
    words = [word for item in settings.items() for word in ("--conf", "=".join(item))]
    command = [str(HOME / "bin/spark-submit"), "--master", f"spark://127.0.0.1:{port}"]
    command += ["--archives", f"{packed.archive}#environment", *words]
    job = folder / "job.py"
    job.write_text((ROOT / "tests/spark/packed_job.py").read_text())
    return Program(
        [*command, str(job), str(folder)], folder / "job.log", checkout=False, SPARK_HOME=str(HOME)
    )


def kill_executor(work: Path) -> None:
    """Kills the Java process whose folder is in that of a worker; the worker starts another one."""
    killed = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            command = (entry / "cmdline").read_bytes()
            if b"ExecutorBackend" in command and os.readlink(entry / "cwd").startswith(str(work)):
                os.kill(int(entry.name), signal.SIGKILL)
                killed.append(entry.name)
    assert killed, "no executor was found"
