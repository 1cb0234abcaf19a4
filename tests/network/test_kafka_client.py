"""``pathcast client`` at a broker on a real Kafka."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("confluent_kafka")

from typer.testing import CliRunner

from pathcast.cli import app
from tests.network.deployment import Deployment

if TYPE_CHECKING:
    from tests.kafka.server import KafkaServer

NEWS = Path(__file__).parents[2] / "examples/news"


def test_the_commands_of_a_client(kafka: KafkaServer, tmp_path: Path) -> None:
    def call(*words: str) -> str:
        done = CliRunner().invoke(app, ["client", words[0], "-c", str(configs[0]), *words[1:]])
        assert done.exit_code == 0, done.output
        return done.stdout

    with Deployment(kafka, tmp_path) as made:
        made.add("edge", ["other"], clients=["ann"], open=False)
        made.add("other", ["edge"], clients=["ann"], open=False)
        made.start()
        configs = [tmp_path / f"ann-{broker}.toml" for broker in made.nodes]
        for config, broker in zip(configs, made.nodes, strict=True):
            config.write_text(
                f'name = "ann"\nbroker = "{broker}"\nprefix = "{made.prefix}"\n'
                f'[kafka]\nbootstrap.servers = "{kafka.bootstrap}"\n',
                encoding="utf-8",
            )
        (tmp_path / "wanted.txt").write_text("//a\n//b[@n = 2]\n//c\n", encoding="utf-8")
        (tmp_path / "a.xml").write_bytes(b"<a><b n='2'/></a>")
        (tmp_path / "b.xml").write_bytes(b"<b n='1'/>")
        (tmp_path / "c.xml").write_bytes(b"<c/>")
        call("subscribe", "-s", str(tmp_path / "wanted.txt"))
        call("unsubscribe", "3")
        call("advertise", "--dtd", str(NEWS / "wire.dtd"))
        files = [str(tmp_path / f"{name}.xml") for name in "abc"]
        call("publish", *files)
        call("publish", *files)
        call("subscribe", "-s", str(tmp_path / "wanted.txt"))
        out = tmp_path / "out"
        lines = call("listen", "--wait", "5", "-o", str(out)).splitlines()
        (delivery,) = [json.loads(line) for line in lines]
        assert delivery["ids"] == ["1", "2"]
        assert Path(delivery["file"]).read_bytes() == b"<a><b n='2'/></a>"
        call("move", "--to", str(configs[1]))
        configs.reverse()
        (tmp_path / "d.xml").write_bytes(b"<d><a/></d>")
        call("publish", str(tmp_path / "d.xml"))
        (line,) = call("listen", "--wait", "5").splitlines()
        assert json.loads(line)["document"].startswith("other/ann/")
        call("leave")
        assert call("listen", "--wait", "1") == "", "what was listened to is not told again"
        assert made.quarantined("edge") == made.quarantined("other") == []


def test_a_bad_file_of_subscriptions_is_refused_whole(tmp_path: Path) -> None:
    (tmp_path / "wanted.jsonl").write_text('{"id": "1"}\n', encoding="utf-8")
    command = ["client", "subscribe", "-c", str(tmp_path / "ann.toml"), "-s", str(tmp_path / "wanted.jsonl")]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 2
    assert "wanted.jsonl:1" in done.stderr
