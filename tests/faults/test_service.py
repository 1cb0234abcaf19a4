"""The service: a document that cannot be kept is not accepted, and all that was accepted arrives."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.faults.conftest import Disk

if sys.version_info < (3, 11):
    pytest.skip("the service needs Python 3.11", allow_module_level=True)
pytest.importorskip("fastapi")
from tests.service.server import Server


@pytest.mark.parametrize("fault", ["full", "sync"])
def test_nothing_is_accepted_that_is_not_kept(disk: Disk, tmp_path: Path, fault: str) -> None:
    accepted = []
    with Server("--data", str(tmp_path / "data"), environment=disk.environment) as server:
        path = server.topic("news", all="//a")
        for number in range(9):
            if number in (3, 6):
                disk.fail(fault)
            if number in (5, 8):
                disk.mend()
            answer = server.post(f"{path}/documents", content=f"<a><b{number}/></a>")
            assert answer.status_code == (503 if disk.switch.exists() else 202), answer.text
            if answer.status_code == 202:
                accepted.append(answer.json()["document"])
            else:
                assert answer.headers["retry-after"]
        assert len(accepted) == 5
        server.kill()
        server.start()
        pulled = server.get(f"{path}/subscriptions/all/deliveries")
        assert pulled.status_code == 200, pulled.text
        assert sorted(each["document"] for each in pulled.json()["deliveries"]) == sorted(accepted)
