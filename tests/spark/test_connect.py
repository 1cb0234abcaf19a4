"""The same tests in a Spark Connect session, in a process of its own: a process holds one kind of session."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CORE = (
    "test_match.py::test_matches_and_dead_letters_are_those_of_the_index[4]",
    "test_match.py::test_shipped_files_are_enough",
    "test_match.py::test_strings_integers_and_other_columns",
    "test_match.py::test_no_subscriptions_and_no_documents",
    "test_compile.py::test_bad_rows_are_rejected_with_column_and_reason",
    "test_compile.py::test_workers_that_do_not_see_the_folder_send_their_files",
    "test_documents.py::test_a_folder_of_files",
    "test_datasource.py::test_it_gives_what_the_index_gives[1]",
    "test_functions.py::test_sql_gives_what_the_index_gives",
    "test_stream.py::test_a_stream_gives_what_the_index_gives[3-False]",
    "test_outboxes.py::test_one_copy_for_each_subscriber",
    "test_outboxes.py::test_an_outbox_from_which_nothing_was_taken",
)
# Minutes: with the other long ones.
LONG = (
    "test_relational.py::test_data_frames_in_and_out",
    "test_relational.py::test_two_contents_of_one_number_are_told_and_nothing_is_written",
    "test_match.py::test_bad_subscriptions_stop_it_or_not",
    "test_match.py::test_a_damaged_index_is_told",
    "test_compile.py::test_changes_alone_give_what_all_rows_give",
    "test_documents.py::test_one_huge_file_is_cut_into_records",
    "test_stream.py::test_a_new_version_takes_effect_with_the_next_batch",
)
ASKED = CORE + LONG if "PATHCAST_FAULTS" in os.environ else CORE


@pytest.mark.skipif("PATHCAST_SPARK_SESSION" in os.environ, reason="this is the inner run")
def test_connect_passes_the_same_tests() -> None:
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install 'pyspark[connect]'")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        + [str(HERE / name) for name in ASKED],
        cwd=HERE.parents[1],
        env={**os.environ, "PATHCAST_SPARK_SESSION": "connect"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    if " passed" not in done.stdout:
        pytest.skip(done.stdout[-300:])
