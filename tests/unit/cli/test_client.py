"""``pathcast client subscribe``: mistakes are told before anything is sent."""

from __future__ import annotations

from pathlib import Path

from tests.unit.cli.conftest import Run


def test_nothing_is_sent_when_an_expression_is_not_sound(run: Run, tmp_path: Path) -> None:
    (tmp_path / "nobody.toml").write_text(
        'name = "ann"\nbroker = "berlin"\n[kafka]\nbootstrap.servers = "127.0.0.1:9"\n'
    )
    file = tmp_path / "subs.csv"
    file.write_text("id,xpath\ngood,//a\nbad,//a[\nbad,//b\nprefix,//x:a\n")
    result = run("client", "subscribe", "--config", tmp_path / "nobody.toml", "-s", file)
    assert result.exit_code == 2
    assert [line.split(": ")[0].rpartition(":")[2] for line in result.stderr.splitlines()] == ["3", "4", "5"]
    assert "column 5 of '//a['" in result.stderr
    assert "subscriptions sent" not in result.stderr
