"""A real PostgreSQL server for benchmarks and tests, started from programs that are fetched or installed.

`make jars` fetches an archive with the server's binaries; without it, those on the path or where Debian puts
them do. The server refuses to run as root, so then it runs as `nobody`, from a folder that is `nobody`'s. It
listens on a port of the loopback interface, trusts everybody who reaches it, and does not outlive the process
that started it. A start takes about three seconds, most of which is unpacking and making the first database.
"""

from __future__ import annotations

import io
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[2]
FETCHED = ROOT / ".jars/postgres"
HOST = "127.0.0.1"
DEADLINE = 60.0
POLL = 0.05

SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "fsync": "off",  # nothing here has to survive a power cut
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "20",
    "autovacuum": "off",
    "log_min_messages": "warning",
}

DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
"""For benchmarks of what waits for the disk."""


def missing_server() -> str | None:
    """Why there is no server, or nothing when there is one."""
    if any(FETCHED.glob("*.jar")) or _installed() is not None:
        return None
    return ".jars/postgres is empty: make jars fetches a PostgreSQL server (it needs Maven)"


def _installed() -> Path | None:
    """The folder of an installed server's programs."""
    found = shutil.which("postgres")
    if found:
        return Path(found).resolve().parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


class PostgresServer:
    """One server; a context manager that is started on entry and gone on exit."""

    def __init__(self, durable: bool = False) -> None:
        if reason := missing_server():
            raise RuntimeError(reason)
        self.folder = Path(tempfile.mkdtemp(prefix="pathcast-postgres-"))
        self.log = self.folder / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        self._who: dict[str, Any] = {}
        self._databases = 0
        self._settings = {**SETTINGS, **(DURABLE if durable else {})}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            self._who = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            self.folder.chmod(0o755)
        with socket.socket() as probe:
            probe.bind((HOST, 0))
            self.port = int(probe.getsockname()[1])

    def fresh(self) -> str:
        """The address of a new and empty database."""
        import psycopg

        self._databases += 1
        name = f"database_{self._databases}"
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f"create database {name}")
        return self.address(name)

    def schema(self) -> str:
        """The address of a new and empty schema, which is made sooner than a database and has no files."""
        import psycopg

        self._databases += 1
        name = f"schema_{self._databases}"
        with psycopg.connect(self.address(), autocommit=True) as connection:
            connection.execute(f"create schema {name}")
        return f"{self.address()}?options=-csearch_path%3D{name}"

    def address(self, database: str = "postgres") -> str:
        """What a client connects to."""
        return f"postgresql://postgres@{HOST}:{self.port}/{database}"

    def __enter__(self) -> PostgresServer:
        try:
            self._programs = self._unpacked()
            self._run(
                "initdb",
                *("--pgdata", str(self.folder / "data"), "--username", "postgres", "--auth", "trust"),
                *("--encoding", "UTF8", "--no-locale", "--no-sync"),
            )
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start, for the first time or again on the same data and port; returns when clients are served."""
        settings = [
            f"--{name}={value}" for name, value in (self._settings | {"port": str(self.port)}).items()
        ]
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(self._programs / "postgres"), "-D", str(self.folder / "data"), *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **self._who,
            )
        self._guard = subprocess.Popen(  # its input ends when this process does, however it ends
            ["sh", "-c", 'read -r _; kill -QUIT "$0"', str(self._process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        deadline = time.monotonic() + DEADLINE
        while not self._serves():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(
                    f"the server did not start:\n{self.log.read_text(errors='replace')[-4000:]}"
                )
            time.sleep(POLL)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it, by default at once but in order, with every connection cut."""
        process, guard = self._process, self._guard
        self._process = self._guard = None
        if process is not None:
            process.send_signal(how)
            process.wait(DEADLINE)
        if guard is not None:
            guard.kill()
            guard.wait()
            assert guard.stdin
            guard.stdin.close()

    def close(self) -> None:
        """End it and remove everything."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _serves(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.address(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, program: str, *arguments: str) -> None:
        with self.log.open("ab") as log:
            done = subprocess.run(
                [str(self._programs / program), *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                timeout=DEADLINE,
                check=False,
                **self._who,
            )
        if done.returncode:
            raise RuntimeError(f"{program} failed:\n{self.log.read_text(errors='replace')[-4000:]}")

    def _unpacked(self) -> Path:
        """The folder of the server's programs; those that were fetched are unpacked where they may be run."""
        jars = sorted(FETCHED.glob("*.jar"))
        if not jars:
            installed = _installed()
            assert installed
            return installed
        place = self.folder / "server"
        with zipfile.ZipFile(jars[-1]) as jar:
            name = next(name for name in jar.namelist() if name.endswith(".txz"))
            with tarfile.open(fileobj=io.BytesIO(jar.read(name)), mode="r:xz") as archive:
                archive.extractall(place, filter="fully_trusted")
        return place / "bin"
