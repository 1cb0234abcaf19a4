"""``pathcast spark`` as a user runs it: by itself, and through ``spark-submit``; and the demo, small."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer

from pathcast.cli.spark import _subscriptions
from pathcast.spark import Compiled
from pathcast.subscriptions import read_subscriptions, variables_from
from tests.spark.shards import published

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyspark")

from py4j.protocol import Py4JError

pq = pytest.importorskip("pyarrow.parquet")
ROOT = Path(__file__).parents[2]
NEWS = ROOT / "examples/news"
needs_java = pytest.mark.skipif(
    shutil.which("java") is None and "JAVA_HOME" not in os.environ,
    reason="Spark needs Java, and there is none",
)


def ran(*words: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_SUBMIT_ARGS"}
    environment |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **settings}
    return subprocess.run(
        [str(word) for word in words], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )


def pathcast(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return ran(sys.executable, "-m", "pathcast", "spark", *words)


def pairs(folder: Path) -> set[tuple[str, str]]:
    rows = pq.read_table(folder).to_pylist()
    return {(Path(row["doc_id"]).name, row["subscription_id"]) for row in rows}


EXPECTED = {
    *(("harbour.xml", each) for each in ("english", "weather", "storm-warnings", "by-moreno", "no-sports")),
    *(("match-report.xml", each) for each in ("english", "weather", "goals", "late-goals", "by-moreno")),
    *(("museum.xml", each) for each in ("no-sports", "long-reads")),
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The subscriptions of the news, compiled."""
    folder = tmp_path_factory.mktemp("index")
    done = pathcast("compile", "-s", NEWS / "subscriptions.csv", "-o", folder, "--shards", "2", "--route")
    assert done.returncode == 0, done.stderr
    assert re.search(r"subscriptions *│ 8 ", done.stdout)
    assert Compiled.open(folder).manifest.routing is not None
    return folder


def test_files_of_subscriptions_are_read_as_without_spark(spark: SparkSession, tmp_path: Path) -> None:
    lines = '# three\r\n//a\r\n\r\nxmlns:p="urn:p"\r\n//p:b[. = "é"]'
    objects = [
        {"id": "1", "xpath": "//a", "variables": {"n": 5, "t": True}, "namespaces": {"p": "urn:p"}},
        {"id": "2", "xpath": "//b", "variables": {"n": "5", "t": {"xpath": "/*"}}},
    ]
    texts = {
        "a.txt": lines.encode(),
        "b.txt.gz": gzip.compress(lines.encode()),
        "c.csv": "\ufeffid;xpath;ordered\r\n1;//a;true\r\n007;//b;\r\n".encode(),
        "d.jsonl": "".join(json.dumps(each) + "\n" for each in objects).encode(),
    }
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
        found = [row.asDict() for row in _subscriptions(spark, str(tmp_path / name)).collect()]
        expected = list(read_subscriptions(tmp_path / name))
        assert len(expected) == 2
        for row, subscription in zip(found, expected, strict=True):
            assert (row["id"], row["xpath"]) == (subscription.id, subscription.xpath)
            assert variables_from(row.get("variables")) == subscription.variables
            namespaces = row.get("namespaces") or {}
            known = json.loads(namespaces) if isinstance(namespaces, str) else namespaces
            assert known == dict(subscription.namespaces or {})


@needs_java
def test_compile_and_match(index: Path, tmp_path: Path) -> None:
    words = ("match", NEWS / "documents", "-i", index, "-o", tmp_path / "answers")
    done = pathcast(*words)
    assert done.returncode == 1, done.stderr
    assert "torn.xml:5:43: the end tag </heading> does not close <headline>" in done.stderr
    assert re.search(r"matches *│ 12 ", done.stdout)
    assert re.search(r"dead letters *│ 1 ", done.stdout)
    assert pairs(tmp_path / "answers/matches") == EXPECTED
    assert pq.read_table(tmp_path / "answers/dead")["line"].to_pylist() == [5]

    # The same through spark-submit, which makes the session; the first answers are not touched.
    [submit] = [
        Path(str(importlib.util.find_spec("pyspark").submodule_search_locations[0])) / "bin/spark-submit"  # type: ignore[union-attr,index]
    ]
    script = pathcast("script").stdout.strip()
    done = ran(submit, "--master", "local[2]", script, *words[:-1], tmp_path / "submitted")
    assert done.returncode == 1, done.stderr
    assert pairs(tmp_path / "submitted/matches") == EXPECTED


@needs_java
def test_stream_goes_on_where_it_ended(index: Path, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    words = ("stream", inbox, "--format", "xml", "-i", index, "-o", tmp_path / "answers")
    rest = ("--checkpoint", tmp_path / "state", "--trigger", "available")
    files = sorted((NEWS / "documents").glob("*.xml"))
    for some in (files[:2], files[2:]):
        for file in some:
            shutil.copy(file, inbox)
        done = pathcast(*words, *rest)
        assert done.returncode == 0, done.stderr
        assert re.search(r"batches *│ 1 ", done.stdout)
        [line] = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
        assert line["documents"] == len(some)
        assert line["index_version"]
    assert pairs(tmp_path / "answers/matches") == EXPECTED
    assert pq.read_table(tmp_path / "answers/matches").num_rows == len(EXPECTED)  # none twice
    assert pq.read_table(tmp_path / "answers/dead")["line"].to_pylist() == [5]


@needs_java
def test_mistakes_are_sentences(tmp_path: Path) -> None:
    file = NEWS / "subscriptions-with-mistakes.txt"
    done = pathcast("compile", "-s", file, "-o", tmp_path / "index")
    assert done.returncode == 2
    assert "expected a step, found the end" in done.stderr
    assert "Traceback" not in done.stderr
    done = pathcast("match", NEWS / "documents", "-i", tmp_path / "none", "-o", tmp_path / "answers")
    assert done.returncode == 2
    assert "holds no compiled subscriptions" in done.stderr
    assert "Traceback" not in done.stderr


def test_mistakes_in_the_call(tmp_path: Path) -> None:
    done = pathcast("match", "-i", tmp_path)
    assert done.returncode == 2
    assert Path(pathcast("script").stdout.strip()).exists()


def test_a_wrong_index_is_told_before_spark_starts(tmp_path: Path) -> None:
    words = (NEWS / "documents", "-i", tmp_path / "none", "-o", tmp_path / "answers")
    streaming = ("--format", "xml", "--checkpoint", tmp_path / "state")
    for command in (("match", *words), ("stream", *words, *streaming)):
        done = ran(sys.executable, "-m", "pathcast", "spark", *command, PATH=str(tmp_path), JAVA_HOME="")
        assert done.returncode == 2
        # There is no Java in sight: it was not missed.
        assert done.stderr.startswith(f"pathcast: {tmp_path / 'none'} holds no compiled subscriptions")


def test_paths_are_looked_at_before_spark_starts(tmp_path: Path) -> None:
    published(tmp_path / "index", [{"id": "s", "xpath": "//a"}])
    (tmp_path / "old/matches").mkdir(parents=True)
    index = ("-i", tmp_path / "index")
    nowhere, answers = tmp_path / "nowhere", tmp_path / "answers"
    streaming = ("--format", "xml", "--checkpoint", tmp_path / "state")
    calls: list[tuple[tuple[str | Path, ...], str]] = [
        (("match", nowhere, *index, "-o", answers), f"{nowhere} does not exist"),
        (("stream", nowhere, *index, "-o", answers, *streaming), f"{nowhere} does not exist"),
        (("match", NEWS, *index, "-o", tmp_path / "old"), f"{tmp_path}/old/matches is already there: choose"),
        (("compile", "-s", nowhere, "-o", answers), f"{nowhere} does not exist"),
        (("compile", "-s", NEWS / "news.dtd", "-o", answers), "the name must end in one of .txt, .csv"),
    ]
    for words, message in calls:
        done = ran(sys.executable, "-m", "pathcast", "spark", *words, PATH=str(tmp_path), JAVA_HOME="")
        assert done.returncode == 2
        assert message in done.stderr
        assert "Java" not in done.stderr


@needs_java
def test_a_small_demo(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    words = ("--documents", "120", "--bad", "8", "--subscriptions", "300", "--subscribers", "10")
    done = ran(sys.executable, "-m", "demo", "-o", tmp_path / "demo", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The answers are the same" in done.stdout
    assert "there is no document (null)" in done.stdout
    report = (tmp_path / "demo/report.html").read_text(encoding="utf-8")
    assert report.count('<ul class="bars"><li>') == 2
    assert report.count("<svg") == 2, "the histogram, for a desk and for a phone"
    assert re.search(r"<li>Pathcast <b>\d+%</b></li><li>Spark, Arrow and disk <b>\d+%</b></li>", report)
    assert report.count("<mark>") == 8, "the spot of every accident is marked"
    assert "nested deeper than the limit" in report, "the bad actor's documents are answered for"
    assert "The inbox of " in report
    assert not re.search(r"""(src|href)=["'](?!#)""", report), "the report needs nothing else"
    assert "<script" not in report


def test_java_that_ended_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from pathcast.cli.spark_session import spark_session
    from pathcast.spark.driver import session

    monkeypatch.setattr(session, "session", lambda *_, **__: nullcontext())
    with pytest.raises(typer.Exit), spark_session("match", None, "2g"):
        raise ConnectionRefusedError(111, "Connection refused")
    told = capsys.readouterr().err
    assert "Spark's Java process ended" in told
    assert "--memory" in told


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (Py4JError("An error occurred while calling o1.load.\n: Job aborted: [TORN] x\n\tat a"), "[TORN] x"),
        (FileExistsError(17, "File exists", "index"), "File exists: 'index'"),
        (
            Py4JError("java.net.UnknownHostException: nowhere.invalid"),
            "correct the URL, or spark.hadoop.fs.defaultFS if that has it",
        ),
    ],
)
def test_a_job_that_failed_is_not_a_dead_letter(
    error: Exception, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pathcast.cli.spark_session import spark_session
    from pathcast.spark.driver import session

    monkeypatch.setattr(session, "session", lambda *_, **__: nullcontext())
    with pytest.raises(typer.Exit) as ended, spark_session("match", None, "2g"):
        raise error
    assert ended.value.exit_code == 2
    assert capsys.readouterr().err.rstrip().endswith(told)


@needs_java
def test_the_doctor_says_what_to_change(index: Path, tmp_path: Path) -> None:
    folders = ("--folder", tmp_path / "out", "--folder", "nowhere://at/all")
    done = pathcast("doctor", "-i", index, "--master", "local[2]", *folders[:2])
    assert done.returncode == 0, done.stdout + done.stderr
    assert not list((tmp_path / "out").iterdir())
    for text in (
        "Java: ",
        "daemon of Python workers: pathcast.spark.worker.daemon",
        "pathcast on executors: ",
        "index folder: seen by all executors",
        "memory of workers: 2 workers of an executor need up to ",
        "MB outside Java",
        "Java of executors: ",
        "8 of 8 rows that executors wrote are there",
    ):
        assert text in done.stdout
    assert "sockets to workers: TCP" not in done.stdout  # our own sessions spare tasks that wait
    done = pathcast("doctor", "-i", tmp_path / "nowhere", "--master", "local[2]", *folders[2:])
    assert done.returncode == 1
    assert "CHANGE  folder nowhere://at/all: cannot be written" in done.stdout
    assert re.search(r"CHANGE  index: .*\n +.*holds no compiled subscriptions", done.stdout)
