"""``pathcast spark``: the pipeline as commands, on this machine or through ``spark-submit``.

What needs pyspark is imported inside the commands: help works without it.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from rich.console import Console
from rich.table import Table

from pathcast.cli.arguments import (
    Engine,
    Entities,
    OptionalDtd,
    Root,
    Version,
    Xsd,
    fail,
    named,
    optional_schema,
)
from pathcast.cli.spark_session import check_index, check_paths, progress, spark_session, watched
from pathcast.errors import printable
from pathcast.subscriptions import delimiter_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def spark(version: Version = False) -> None:
    """Compile subscriptions and match tables or streams of documents on Spark."""


SHOWN = 5  # bad rows that a summary shows


class Mode(str, Enum):
    """What happens to bad documents, named as in Spark."""

    PERMISSIVE = "PERMISSIVE"
    DROPMALFORMED = "DROPMALFORMED"
    FAILFAST = "FAILFAST"


class DocumentFormat(str, Enum):
    """Where documents are read from."""

    xml = "xml"
    archive = "archive"
    parquet = "parquet"
    json = "json"
    delta = "delta"
    orc = "orc"
    avro = "avro"
    kafka = "kafka"


Master: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Spark's master; local[*] if not given. spark-submit gives its own."),
]
Memory: TypeAlias = Annotated[str, typer.Option(metavar="SIZE", help="Memory of a driver started here.")]
Index: TypeAlias = Annotated[
    str, typer.Option("--index", "-i", metavar="DIR", help="The folder or URL of compiled subscriptions.")
]
Documents: TypeAlias = Annotated[
    str, typer.Argument(metavar="DOCUMENTS", help="A file, folder, pattern or topic as Spark takes it.")
]
Format: TypeAlias = Annotated[
    DocumentFormat | None,
    typer.Option("--format", help="What the documents are; the names of the files tell if not given."),
]
Record: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Cut files into records: elements of this name.")
]
DocumentId: TypeAlias = Annotated[
    str, typer.Option("--id", metavar="COLUMN", help="The column of document ids, in tables.")
]
DocumentColumn: TypeAlias = Annotated[
    str, typer.Option("--document", metavar="COLUMN", help="The column of XML, in tables.")
]
Keep: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--keep", metavar="COLUMN", help="A column of the documents that goes with every answer."),
]
Settings: TypeAlias = Annotated[
    list[str] | None, typer.Option("--option", metavar="KEY=VALUE", help="An option of Spark's source.")
]


@app.command("compile")
def compile_command(
    subscriptions: Annotated[
        str | None,
        typer.Option(
            "--subscriptions",
            "-s",
            metavar="SUBSCRIPTIONS",
            help="A table that Spark reads: .parquet, .csv, .tsv, .json, .jsonl, .orc, or a folder of one of "
            "them; .txt has one XPath a line. Columns id, xpath and perhaps subscriber, ordered, namespaces, "
            "variables.",
            show_default=False,
        ),
    ] = None,
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Where the index goes: a folder or a URL.")
    ],
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Instead: the store of a service.", show_default=False),
    ] = None,
    topic: Annotated[
        str | None, typer.Option(metavar="T", help="The topic in that store.", show_default=False)
    ] = None,
    tenant: Annotated[str, typer.Option(metavar="NAME", help="Whose topic it is.")] = "default",
    shards: Annotated[
        int, typer.Option(min=1, metavar="K", help="How many indexes they are spread over.")
    ] = 1,
    route: Annotated[
        bool, typer.Option("--route", help="Show a document only to the indexes that it can concern.")
    ] = False,
    ordered: Annotated[
        bool, typer.Option("--ordered", help="Read all in ordered mode: branches in the order written.")
    ] = False,
    ignore_namespaces: Annotated[
        bool, typer.Option("--ignore-namespaces", help="Only local names count.")
    ] = False,
    dtd: OptionalDtd = None,
    xsd: Xsd = None,
    root: Root = None,
    entities: Entities = None,
    keep_going: Annotated[
        bool, typer.Option("--reject", help="Compile the rest when some rows are refused.")
    ] = False,
    master: Master = None,
    memory: Memory = "2g",
    version: Version = False,
) -> None:
    """Compile a table of subscriptions into an index in a folder.

    Shards whose rows did not change since the last time are kept as they are. Refused rows are shown, and
    the exit status is then 2 unless --reject is given. With a DTD or an XSD the subscriptions are pruned by
    it, and a document that breaks it becomes a dead letter.

    \b
    Example:
      pathcast spark compile -s subscriptions.parquet -o index --shards 4
      pathcast spark compile --database postgresql://user@host/pathcast --topic news -o index
    """
    if (subscriptions is None) == (database is None) or (database is None) != (topic is None):
        fail("pathcast: give --subscriptions, or --database and --topic")
    schema = optional_schema(dtd, root, xsd)
    if subscriptions is not None:
        check_paths(master, subscriptions)
        _ending(subscriptions)
    with spark_session("compile", master, memory) as spark, watched(spark, "Compiling subscriptions"):
        from pathcast.spark import compile_subscriptions

        start = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="pathcast-topic-") as folder:
            if database is not None and topic is not None:
                table, settings = _topic(spark, database, tenant, topic, Path(folder))
                ignore_namespaces = ignore_namespaces or bool(settings.get("ignore_namespaces"))
            else:
                table = _subscriptions(spark, subscriptions or "")
            compiled = compile_subscriptions(
                table,
                output,
                shards=shards,
                route=route,
                ordered=ordered,
                ignore_namespaces=ignore_namespaces,
                schema=schema,
                entities="html" if entities else None,
            )
            seconds = time.perf_counter() - start
            refused = compiled.first_rejected(SHOWN)
    _summary(
        "Compiled",
        subscriptions=f"{compiled.subscriptions:,}",
        refused=f"{compiled.refused:,}",
        shards=f"{compiled.shards:,}",
        megabytes=f"{sum(shard.index_bytes for shard in compiled.manifest.shards) / 1e6:,.1f}",
        version=compiled.hash[:12],
        seconds=f"{seconds:,.1f}",
    )
    more = compiled.refused - len(refused)
    lines = [f"{subscriptions}: {line}" for line in refused] + ([f"and {more:,} more"] if more else [])
    for line in lines:
        typer.echo(printable(line), err=True)
    if compiled.refused and not keep_going:
        raise typer.Exit(2)


@app.command()
def match(
    documents: Documents,
    index: Index,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="DIR", help="Gets the folders matches and dead.")
    ],
    engine: Engine = "auto",
    mode: Annotated[Mode, typer.Option(help="What happens to bad documents.")] = Mode.PERMISSIVE,
    document_format: Format = None,
    record: Record = None,
    id: DocumentId = "doc_id",
    document: DocumentColumn = "xml",
    keep: Keep = None,
    option: Settings = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is in DIR.")] = False,
    master: Master = None,
    memory: Memory = "2g",
    version: Version = False,
) -> None:
    """Match a table or folder of documents with compiled subscriptions.

    Writes Parquet: DIR/matches with doc_id, subscription_id and perhaps subscriber, and DIR/dead with
    doc_id, reason, line, column, kind and excerpt; both with the columns of --keep. The exit status is 1 if
    there are dead letters.

    \b
    Examples:
      pathcast spark match news/ -i index -o answers
      pathcast spark match proteins.xml --record ProteinEntry -i index -o answers
      spark-submit --master spark://host:7077 $(pathcast spark script) match /data/news -i index -o /data/out
    """
    check_index(index)
    if document_format is not DocumentFormat.kafka:
        check_paths(master, documents)
    if not overwrite:
        check_paths(master, written=(f"{output}/matches", f"{output}/dead"))
    with (
        progress(master) as told,
        spark_session("match", master, memory) as spark,
        watched(spark, "Matching documents", told),
    ):
        from pathcast.spark import Compiled, match_tagged, read_documents, split_tagged
        from pathcast.spark.driver.hadoop import check_output

        start = time.perf_counter()
        compiled = Compiled.open(index, spark)
        check_output(output, spark)
        if "connect" not in type(spark).__module__:
            spark.sparkContext.setJobDescription(f"pathcast match with index version {compiled.hash[:12]}")
        frame = read_documents(
            spark,
            documents,
            format=document_format.value if document_format else None,
            id=id,
            document=document,
            record=record,
            options=named(option, "--option takes KEY=VALUE"),
            keep=keep or (),
        )
        answers = match_tagged(
            frame,
            compiled,
            document=document,
            id=id,
            engine=engine,
            mode=mode.value,
            keep=keep or (),
        )
        answers = answers.persist()  # one job matches; the two tables are taken from what it left
        matches, dead = split_tagged(answers)
        writing = "overwrite" if overwrite else "error"
        matches.write.mode(writing).parquet(f"{output}/matches")
        dead.write.mode(writing).parquet(f"{output}/dead")
        found, letters = matches.count(), dead.count()
        shown = [row.asDict() for row in dead.orderBy("doc_id").limit(SHOWN).collect()]
        seconds = time.perf_counter() - start
    _summary(
        "Matched",
        matches=f"{found:,}",
        dead_letters=f"{letters:,}",
        subscriptions=f"{compiled.subscriptions:,}",
        version=compiled.hash[:12],
        seconds=f"{seconds:,.1f}",
        output=str(output),
    )
    for row in shown:
        place = f":{row['line']}:{row['column']}" if row["line"] else ""
        typer.echo(printable(f"{row['doc_id']}{place}: {row['reason']}"), err=True)
    if letters > len(shown):
        typer.echo(f"and {letters - len(shown):,} more", err=True)
    if letters:
        raise typer.Exit(1)


@app.command()
def stream(
    documents: Documents,
    index: Index,
    output: Annotated[str, typer.Option("--output", "-o", metavar="DIR", help="Where answers go.")],
    checkpoint: Annotated[
        str, typer.Option(metavar="DIR", help="Where the stream keeps how far it is; one for each stream.")
    ],
    document_format: Annotated[DocumentFormat, typer.Option("--format", help="What the documents are.")],
    engine: Engine = "auto",
    mode: Annotated[Mode, typer.Option(help="What happens to bad documents.")] = Mode.PERMISSIVE,
    schema: Annotated[
        str | None,
        typer.Option(metavar="DDL", help="The columns of tables, such as 'doc_id string, xml string'."),
    ] = None,
    id: DocumentId = "doc_id",
    document: DocumentColumn = "xml",
    keep: Keep = None,
    option: Settings = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            metavar="WHEN", help="An interval such as '10 seconds', or available: what is there now."
        ),
    ] = None,
    master: Master = None,
    memory: Memory = "2g",
    version: Version = False,
) -> None:
    """Match documents as they arrive, until it is interrupted.

    Compile into the same folder again while it runs: the next batch uses the new version. Started again with
    the same checkpoint it goes on where it ended, and nothing is answered twice.

    \b
    Example:
      pathcast spark stream inbox --format xml -i index -o answers --checkpoint state --trigger "10 seconds"
    """
    check_index(index)
    if document_format is not DocumentFormat.kafka:
        check_paths(master, documents)
    with spark_session("stream", master, memory) as spark:
        from pathcast.spark import read_documents
        from pathcast.spark import stream as start_stream

        batches = 0
        start = time.perf_counter()

        def told(metrics: Any) -> None:
            nonlocal batches
            batches += 1
            typer.echo(metrics.line(), err=True)

        frame = read_documents(
            spark,
            documents,
            format=document_format.value,
            id=id,
            document=document,
            options=named(option, "--option takes KEY=VALUE"),
            keep=keep or (),
            schema=schema,
            streaming=True,
        )
        query = start_stream(
            frame,
            index,
            output,
            checkpoint=checkpoint,
            id=id,
            document=document,
            engine=engine,
            mode=mode.value,
            keep=keep or (),
            trigger=trigger,
            on_batch=told,
        )
        try:
            query.awaitTermination()
        except KeyboardInterrupt:
            query.stop()
        seconds = time.perf_counter() - start
    _summary("Streamed", batches=f"{batches:,}", seconds=f"{seconds:,.1f}", output=output)


@app.command()
def doctor(
    index: Annotated[
        str | None, typer.Option("--index", "-i", metavar="DIR", help="Also look at this index.")
    ] = None,
    folder: Annotated[
        list[str] | None,
        typer.Option(metavar="DIR", help="Also see whether driver and executors can write to this folder."),
    ] = None,
    master: Master = None,
    memory: Memory = "2g",
    version: Version = False,
) -> None:
    """Check Python, packages, Java, memory and folders on the driver and on executors.

    Prints a line for each thing, and below it what to change. The exit status is 1 if there is anything.

    \b
    Examples:
      pathcast spark doctor -i index
      spark-submit --master spark://host:7077 $(pathcast spark script) doctor -i /data/index
    """
    with spark_session("doctor", master, memory) as spark:
        from pathcast.spark.driver.doctor import examine

        findings = examine(spark, index, folder or ())
    for finding in findings:
        typer.echo(printable(f"{'ok    ' if finding.ok else 'CHANGE'}  {finding.what}: {finding.found}"))
        if finding.advice:
            typer.echo(printable(f"        {finding.advice}"))
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


@app.command()
def script(version: Version = False) -> None:
    """Print the file to give to spark-submit; the words of a command follow it.

    \b
    Example:
      spark-submit --master spark://host:7077 $(pathcast spark script) match /data/news -i index -o /data/out
    """
    found = importlib.util.find_spec("pathcast")
    assert found is not None
    assert found.submodule_search_locations is not None
    typer.echo(Path(found.submodule_search_locations[0]) / "cli" / "spark_submit.py")


def _subscriptions(spark: SparkSession, path: str) -> DataFrame:
    """The table of subscriptions, by the ending of its name or of the first file in the folder."""
    kind = _ending(path)
    if kind == "txt":
        from pathcast.spark.driver.workers import on_worker
        from pathcast.spark.worker.lines import COLUMNS, read_lines

        files = spark.read.format("binaryFile").load(path).select("path", "content")
        return files.mapInArrow(on_worker(read_lines, None), COLUMNS)
    if kind in ("csv", "tsv"):
        reader = spark.read.option("header", True).option("escape", '"').option("multiLine", True)
        header = spark.read.text(path).head(1) if kind == "csv" else []
        separator = delimiter_of(header[0][0]) if header else "\t"
        return reader.option("sep", separator).csv(path)
    if kind in ("json", "jsonl", "ndjson"):
        return _objects(spark, path)
    return spark.read.format(kind).load(path)


def _objects(spark: SparkSession, path: str) -> DataFrame:
    """JSON lines, with objects as they are: Spark would make 5 a text where another row has a text."""
    from pyspark.sql.types import StringType, StructField, StructType

    found = spark.read.json(path).schema
    text = ("namespaces", "variables")
    kinds = [StringType() if field.name in text else field.dataType for field in found]
    fields = [StructField(field.name, kind) for field, kind in zip(found, kinds, strict=True)]
    return spark.read.schema(StructType(fields)).json(path)


def _topic(
    spark: SparkSession, database: str, tenant: str, topic: str, folder: Path
) -> tuple[DataFrame, dict[str, Any]]:
    """The enabled subscriptions of a service's topic as a table, and the settings of the topic."""
    from pathcast.cli.serve import service_needed

    service_needed()
    from pathcast.service.export import export

    found = export(database, tenant, topic)
    file = folder / "subscriptions.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        lines.writelines(found.lines)
    columns = "id string, xpath string, ordered boolean, namespaces string"
    return spark.read.schema(columns).json(str(file)), found.settings


def _ending(path: str) -> str:
    names = [path]
    if Path(path).is_dir():
        names = sorted(found.name for found in Path(path).iterdir() if not found.name.startswith((".", "_")))
    ending = Path(names[0].removesuffix(".gz")).suffix.lstrip(".") if names else ""
    known = ("txt", "csv", "tsv", "json", "jsonl", "ndjson", "parquet", "orc", "avro")
    if ending not in known:
        fail(f"{path}: the name must end in one of {', '.join('.' + each for each in known)}")
    return ending


def _summary(title: str, **rows: str) -> None:
    """A small table on standard output."""
    table = Table(title=title, title_justify="left", show_header=False)
    for name, value in rows.items():
        table.add_row(name.replace("_", " "), value)
    Console(width=None if sys.stdout.isatty() else 100).print(table)
