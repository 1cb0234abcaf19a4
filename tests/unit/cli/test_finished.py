"""The little things: what a file of subscriptions may hold, what is kept, what is a mistake of the call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run

EXAMPLES = Path(__file__).parents[3] / "examples/schemas"


def test_comments_and_namespaces_in_text_files(run: Run, folder: Path) -> None:
    (folder / "n.txt").write_text(
        "# what we want\n//b\n\n  # a prefix from here on\nxmlns:n = 'urn:x'\n//n:b\nxmlns=\"urn:x\"\n//b\n"
    )
    (folder / "x.xml").write_text("<a xmlns='urn:x'><b/></a>")
    result = run("match", "-s", "n.txt", "x.xml", "docs/1.xml")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["matches"] for row in rows] == [["6", "8"], ["2"]]
    checked = run("check", "-s", "n.txt")
    assert [json.loads(line)["id"] for line in checked.stdout.splitlines()] == ["2", "6", "8"]


def test_a_prefix_is_bound_below_its_line_only(run: Run, folder: Path) -> None:
    (folder / "n.txt").write_text("//n:b\nxmlns:n='urn:x'\n//n:b\n")
    result = run("match", "-s", "n.txt", "docs/1.xml")
    assert result.exit_code == 2
    assert result.stderr.startswith("n.txt:1: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "text", ["id;xpath\none;/a/b\n", '"id";"xpath";"ordered"\n"one";"/a/b";\n', "id,xpath\none,/a/b\n"]
)
def test_semicolons_in_csv(run: Run, folder: Path, text: str) -> None:
    (folder / "s.csv").write_text(text)
    result = run("match", "-s", "s.csv", "docs/1.xml")
    assert (result.exit_code, json.loads(result.stdout)["matches"]) == (0, ["one"])


def test_csv_keeps_documents_without_matches(run: Run, folder: Path) -> None:
    (folder / "none.xml").write_text("<z/>")
    result = run("match", "-s", "s.txt", "--format", "csv", "docs/1.xml", "none.xml")
    assert result.stdout == "document,subscription\ndocs/1.xml,1\nnone.xml,\n"
    nodes = run("match", "-e", "//b", "--nodes", "--format", "csv", "docs/1.xml", "none.xml")
    assert nodes.stdout.splitlines()[1:] == ["docs/1.xml,1,/a[1]/b[1],1,4,", "none.xml,,,,,"]


@pytest.mark.parametrize("command", ["match", "check", "merge"])
def test_a_root_needs_a_schema(run: Run, folder: Path, command: str) -> None:
    arguments = {"match": ["-s", "s.txt", "docs"], "check": ["-s", "s.txt"], "merge": ["/a/b", "/a/c"]}[
        command
    ]
    result = run(command, *arguments, "--root", "a")
    assert result.exit_code == 2
    assert "--root names the root element of a schema: give --dtd FILE or --xsd FILE too." in result.stderr


@pytest.mark.parametrize("options", [[], ["--dtd", "a.dtd", "--xsd", "a.xsd"]])
def test_one_schema_is_needed_where_one_is(run: Run, folder: Path, options: list[str]) -> None:
    result = run("prune", "-s", "s.txt", *options)
    assert (result.exit_code, result.stderr) == (2, "pathcast: give either --dtd FILE or --xsd FILE.\n")


def test_check_with_an_xsd_of_alerts(run: Run, folder: Path) -> None:
    pytest.importorskip("xmlschema")
    lines = [
        'xmlns:sig="http://www.w3.org/2000/09/xmldsig#"',
        "/alert/info[category = 'Met']",
        "/al:alert/al:inof",
        "/alert/info/area/code[@system = 'ISO']",
        "//sig:Signature//x",
    ]
    (folder / "a.txt").write_text("\n".join(lines))
    result = run("check", "-s", "a.txt", "--xsd", EXAMPLES / "alert.xsd")
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [row["ok"] for row in rows] == [True, False, False, True]
    assert result.exit_code == 2
    assert [line.partition(": ")[0] for line in result.stderr.splitlines()] == ["a.txt:3", "a.txt:4"]


def test_an_xsd_of_orders_in_every_command(run: Run, folder: Path) -> None:
    pytest.importorskip("xmlschema")
    order = ("--xsd", EXAMPLES / "order/order.xsd", "--root", "Order")
    assert run("generate", "documents", *order, "-n", "5", "-o", "orders").exit_code == 0
    assert run("generate", "subscriptions", *order, "-n", "20", "-o", "o.jsonl").exit_code == 0
    checked = run("check", "-s", "o.jsonl", *order)
    assert (checked.exit_code, checked.stdout.count('"ok": true')) == (0, 20)
    matched = run("match", "-s", "o.jsonl", *order, "orders")
    assert (matched.exit_code, len(matched.stdout.splitlines())) == (0, 5)
    assert run("advertise", *order).stdout.startswith("/tns:Order/")
    assert "root tns:Order" in run("schema", "show", *order).stdout
    assert run("schema", "draw", *order, "-o", "order.svg").exit_code == 0
    assert (folder / "order.svg").read_text().startswith("<svg")
    assert len(run("prune", "-s", "o.jsonl", *order).stdout.splitlines()) == 20


def test_entities_of_html(run: Run, folder: Path) -> None:
    (folder / "feed.xml").write_text("<feed>caf&eacute;&nbsp;</feed>")
    refused = run("match", "-e", "//feed", "feed.xml")
    assert (refused.exit_code, json.loads(refused.stdout)["error"]["kind"]) == (1, "entity")
    for call in (("match", "-e", "/feed[contains(., 'café')]"), ("match", "-e", "//feed", "--nodes")):
        result = run(*call, "--entities", "html", "feed.xml")
        assert (result.exit_code, json.loads(result.stdout)["matches"]) == (0, ["1"])
    explained = run("explain", "/feed[contains(., 'é')]", "feed.xml", "--entities", "html")
    assert (explained.exit_code, explained.stdout.splitlines()[0][:7]) == (0, "matches")
    assert run("explain", "/feed", "feed.xml").exit_code == 1
    wrong = run("match", "-e", "//feed", "--entities", "svg", "feed.xml")
    assert (wrong.exit_code, "no set of entities" in wrong.stderr) == (2, True)
    tables = run("match", "-e", "//feed", "--engine", "relational", "--entities", "html", "feed.xml")
    assert (tables.exit_code, "takes no" in tables.stderr) == (2, True)


XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="a"><xs:complexType><xs:sequence>
  <xs:element name="b" type="xs:string"/><xs:element name="c" type="xs:string"/>
  <xs:element name="d" type="xs:string"/><xs:element name="e" type="xs:string"/>
</xs:sequence></xs:complexType></xs:element></xs:schema>"""


def test_a_merger_is_measured_by_an_xsd(run: Run, folder: Path) -> None:
    pytest.importorskip("xmlschema")
    (folder / "a.xsd").write_text(XSD)
    (folder / "a.dtd").write_text(
        "<!ELEMENT a (b, c, d, e)>" + "".join(f"<!ELEMENT {x} ANY>" for x in "bcde")
    )
    result = run("merge", "/a/b", "/a/c", "--xsd", "a.xsd")
    assert (result.exit_code, result.stdout) == (0, "/a/*\t0.5000\n"), result.stderr
    assert run("merge", "/a/b", "/a/c", "--xsd", "a.xsd", "--dtd", "a.dtd").exit_code == 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (("match", "-e", "//b", "--threads", "x", "1.xml"), "'--threads': it must be a whole number"),
        (("match", "-e", "//b", "--threads", "0", "1.xml"), "'--threads': it must be at least 1"),
        (("match", "-e", "//b", "--format", "x", "1.xml"), "'--format': 'x' is not one of"),
        (("generate", "subscriptions", "-n", "1", "-o", "x", "--skew", "y"), "'--skew': it must be a number"),
        (("generate", "subscriptions", "-n", "1", "-o", "x", "--wildcard", "2"), "it must be at most 1"),
        (("spark", "compile", "--shards", "0", "-o", "x"), "'--shards': it must be at least 1"),
    ],
)
def test_a_wrong_option_is_told_plainly(run: Run, call: tuple[str, ...], message: str) -> None:
    result = run(*call)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert "Input should" not in result.stderr
