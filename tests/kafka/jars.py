"""The Java archives of the Kafka tests, which ``make jars`` fetches, and the reason when they are not there.

A ``missing_...`` function returns one sentence that says what to do, or ``None`` when everything is there;
it starts no process and imports nothing optional.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

ROOT = Path(__file__).parents[2]
BROKER = ROOT / ".jars/kafka"
CONNECTOR = ROOT / ".jars/spark"


def java() -> str | None:
    """The ``java`` of ``JAVA_HOME``, else the one on the path."""
    home = os.environ.get("JAVA_HOME")
    return (shutil.which("java", path=str(Path(home) / "bin")) if home else None) or shutil.which("java")


def missing_broker() -> str | None:
    return _missing(BROKER, "a Kafka broker")


def missing_connector() -> str | None:
    return _missing(CONNECTOR, "the Kafka connector of Spark")


def connector() -> str:
    """What ``spark.jars`` has to be set to."""
    return ",".join(str(jar) for jar in sorted(CONNECTOR.glob("*.jar")))


def _missing(folder: Path, what: str) -> str | None:
    if java() is None:
        return f"{what} needs Java 17 or newer, and there is no java on the path"
    if not any(folder.glob("*.jar")):
        return f"{folder.relative_to(ROOT)} is empty: make jars fetches {what} (it needs Maven)"
    return None
