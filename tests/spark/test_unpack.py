"""Files within a worker: what is packed comes out, and what is damaged is told by name."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("pyspark", reason="pyspark is not installed")

from pathcast import PathcastError
from pathcast.spark.driver.splits import find_files, plan_splits
from pathcast.spark.worker import unpack as unpacking
from pathcast.spark.worker.splits import ReadJob, read_split
from pathcast.spark.worker.unpack import UnpackJob, documents_of, unpack

JOB = UnpackJob(None, 1 << 20, 1 << 20)
ENTRIES = {
    "one.xml": b"<a/>",
    "deep/two.xml": b"<b>" + b"x" * 3000 + b"</b>",
    "three.xml.gz": gzip.compress(b"<c/>"),
}


def tar(mode: str) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        archive.addfile(tarfile.TarInfo("folder/"))
        for name, contents in ENTRIES.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(contents)
            archive.addfile(entry, io.BytesIO(contents))
    return made.getvalue()


def read(path: Path, job: UnpackJob = JOB) -> dict[str, bytes]:
    return {name.removeprefix(str(path)): bytes(text) for name, text in documents_of(str(path), job)}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tar_files(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "without a telling name"
    file.write_bytes(tar(mode))
    found = read(file)
    assert {name: text for name, text in found.items() if name != "!folder/"} == {
        "!one.xml": b"<a/>",
        "!deep/two.xml": ENTRIES["deep/two.xml"],
        "!three.xml.gz": b"<c/>",
    }
    records = read(file, UnpackJob("b", 1 << 20, 1 << 20))
    assert records["!deep/two.xml#1"] == ENTRIES["deep/two.xml"]


@pytest.mark.parametrize("name", ["x.xml", "x.gz", "x.tar", "x.zip"])
def test_a_file_without_bytes_is_a_document(tmp_path: Path, name: str) -> None:
    """And then a dead letter: Spark's own sources would leave it out without a word."""
    (tmp_path / name).touch()
    job = ReadJob("doc_id", "xml", JOB)
    (batch,) = (some for part in plan_splits(find_files([str(tmp_path)])) for some in read_split(part, job))
    assert batch.to_pylist() == [{"id": f"file:{tmp_path / name}", "document": b""}]


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_file_that_breaks_off_is_told(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "torn.tar"
    whole = tar(mode)
    file.write_bytes(whole[: len(whole) // 2] if mode != "w" else whole[:2500])
    assert any(text.startswith(b"not a document: ") for text in read(file).values())


def test_nothing_of_a_tar_file_is_lost_in_silence(tmp_path: Path) -> None:
    file, whole = tmp_path / "x.tar", tar("w")
    header = whole.index(b"three.xml.gz")
    flipped = whole[:header] + b"T" + whole[header + 1 :]
    for damaged in (flipped, whole[:header], whole[: header + 100], whole + whole):
        file.write_bytes(damaged)
        found = read(file)
        assert found["!one.xml"] == b"<a/>"
        assert found[""].startswith(b"not a document: a damaged tar file: "), found
    assert found[""].endswith(b"there is something behind its end")


def test_a_damaged_zip_file_does_not_fail_the_job(tmp_path: Path) -> None:
    file, made = tmp_path / "x.zip", io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("é.xml", b"<a/>")
    whole = made.getvalue()
    directory = whole.rindex(b"PK\x01\x02")
    newer = whole[: directory + 6] + b"\xff" + whole[directory + 7 :]
    for damaged in (whole.replace("é".encode(), b"\xff\xff"), newer, whole[:directory]):
        file.write_bytes(damaged)
        assert read(file)[""].startswith(b"not a document: a damaged zip file: ")


def test_links_and_names_that_are_no_text_in_a_tar_file(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("<a/>")
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    with tarfile.open(tmp_path / "x.tar", "w", encoding="latin-1", format=tarfile.GNU_FORMAT) as archive:
        archive.add(tmp_path / "one", "é")
        archive.add(tmp_path / "two", "two")
    (batch,) = unpack([f"{tmp_path}/x.tar"], JOB)
    assert [name.rpartition("!")[2] for name in batch["id"].to_pylist()] == ["\\udce9", "two"]
    assert batch["document"].to_pylist() == [
        b"<a/>",
        b"not a document: a hard link to \\udce9, which has its bytes",
    ]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_documents(tmp_path: Path, compress: object) -> None:
    assert callable(compress)
    file = tmp_path / "document"
    file.write_bytes(compress(b"<a>" + b"text" * 5000 + b"</a>"))
    assert read(file) == {"": b"<a>" + b"text" * 5000 + b"</a>"}
    assert read(file, UnpackJob(None, 1000, 1000))[""].startswith(b"not a document: longer than 1,000")
    file.write_bytes(compress(b"<a>" + bytes(range(256)) * 50)[:-20])
    assert read(file)[""].startswith(b"not a document: damaged, or cannot be unpacked")


class Failing(io.BytesIO):
    """A file of a network, which fails behind its first bytes."""

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() >= 1000:
            raise TimeoutError("no answer")
        return super().read(1000 if size is None or size < 0 else min(size, 1000))


@pytest.mark.parametrize("record", [None, "b"])
@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_a_file_that_cannot_be_read_to_its_end_is_not_damaged(
    monkeypatch: pytest.MonkeyPatch, compress: type[bytes], record: str | None
) -> None:
    text = b"<a>" + random.Random(1).randbytes(3000).hex().encode() + b"</a>"
    archive, names = io.BytesIO(), ("one.xml", "two.xml")
    with zipfile.ZipFile(archive, "w") as made:
        for name in names:
            made.writestr(name, text)
    for contents in (compress(text), compress(tar("w")), archive.getvalue()):
        monkeypatch.setattr(unpacking, "open_file", lambda path, contents=contents: Failing(contents))
        if len(contents) > 1000:
            with pytest.raises(PathcastError, match=r"^s3://store/x cannot be read: no answer"):
                list(documents_of("s3://store/x", UnpackJob(record, 1 << 20, 1 << 20)))


def test_a_file_that_is_gone_is_a_dead_letter(tmp_path: Path) -> None:
    (batch,) = unpack([f"file:{tmp_path}/gone.xml"], JOB)
    assert batch["document"][0].as_py().startswith(b"not a document: cannot be opened")
