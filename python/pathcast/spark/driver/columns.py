"""Columns of the tables that users give: whether they are there, of which type, and how names are quoted."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

__all__ = ["check_frame", "column_like", "column_type", "known_columns", "quoted"]


def check_frame(documents: object) -> None:
    """Refuses what is no DataFrame, such as a path."""
    if not isinstance(documents, DataFrame):
        raise TypeError(
            f"documents must be a DataFrame of Spark's, not {type(documents).__name__}: read them with "
            "read_documents(), or give files to match_files()"
        )


def column_type(frame: DataFrame, name: str, what: str, accepted: Sequence[type[DataType]] = ()) -> DataType:
    """The type of a column; an error says which one is missing, or of the wrong type, and what there is."""
    schema = frame.schema
    if name not in schema.names:
        there = ", ".join(f"{field.name} ({field.dataType.simpleString()})" for field in schema) or "none"
        raise ValueError(f"the {what} have no column {name!r}; there are: {there}")
    if schema.names.count(name) > 1:
        raise ValueError(f"the {what} have more than one column {name!r}: rename or drop one")
    found = schema[name].dataType
    if accepted and not isinstance(found, tuple(accepted)):
        kinds = " or ".join(each().simpleString() for each in accepted)
        raise TypeError(
            f"the column {name!r} of the {what} must be {kinds}, not {found.simpleString()}: cast it first"
        )
    return found


def column_like(frame: DataFrame, name: str) -> str | None:
    """The column of that name as the table writes it: databases give `SUBSCRIBER`. None if there is none."""
    names = frame.columns
    return name if name in names else next((each for each in names if each.lower() == name), None)


def known_columns(frame: DataFrame) -> bool:
    """Whether a table can be asked for its columns: not within a query function of a declarative pipeline."""
    try:
        _ = frame.schema
    except PySparkException as error:
        if "ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION" not in str(error):
            raise
        return False
    return True


def quoted(name: str) -> str:
    """A column's name as Spark reads it whatever it holds, dots and spaces too."""
    return "`" + name.replace("`", "``") + "`"
