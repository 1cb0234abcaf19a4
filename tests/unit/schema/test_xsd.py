"""XSDs: what is read, what is promised of it, and what is refused."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from random import Random

import pytest

pytest.importorskip("xmlschema")

import pathcast
from pathcast import generate
from pathcast.errors import SchemaError
from pathcast.network import advertisements, overlaps
from pathcast.schema import Schema
from pathcast.schema.drawing import draw

EXAMPLES = Path(__file__).parents[3] / "examples/schemas"
SCHEMAS = {"alert": EXAMPLES / "alert.xsd", "order": EXAMPLES / "order/order.xsd"}


@pytest.fixture(params=SCHEMAS, scope="module")
def schema(request: pytest.FixtureRequest) -> Schema:
    return Schema.from_xsd(SCHEMAS[request.param], {"order": "Order"}.get(request.param))


def test_what_is_read() -> None:
    schema = Schema.from_xsd(SCHEMAS["alert"])
    assert schema.root == "al:alert"
    assert schema.namespaces["al"] == schema.namespaces[""] == "urn:example:alert:1"
    assert schema.children("al:area") == ("al:description", "al:polygon", "al:altitude", "al:code#2")
    (system,) = schema.attributes("al:code#2")
    assert (system.presence, system.values) == ("required", ("FIPS", "UGC"))
    assert schema.elements["al:alert"].lets_in == ("http://www.w3.org/2000/09/xmldsig#",)


def test_substitution_groups_derived_types_and_wildcards() -> None:
    schema = Schema.from_xsd(SCHEMAS["order"], root="tns:Order")
    children = schema.children("tns:Order")
    assert {"agg:InvoicePayment", "agg:CardPayment"} < set(children)
    assert "agg:Payment" not in schema.elements  # it is abstract
    assert "basic:IssueDate" in schema.children("agg:BuyerParty#2")
    assert schema.elements["ext:ExtensionContent"].lets_in == ("*",)
    assert schema.elements["agg:Item"].any_attribute


def test_generated_documents_are_valid(schema: Schema) -> None:
    for document in generate.documents(schema, 150, seed=7):
        assert schema.validate(document) == []


def test_nothing_generated_is_called_impossible(schema: Schema) -> None:
    """Also with a guard: a valid document keeps to the graph."""
    index = pathcast.Index(schema=schema, validate=True, impossible="error", namespaces=schema.namespaces)
    subscriptions = list(
        generate.subscriptions(schema, 300, seed=3, wildcard=0.3, descendant=0.3, branch=0.3, predicates=1)
    )
    index.add_many(enumerate(subscriptions))
    for document in generate.documents(schema, 50, seed=11):
        index.match(document)


def test_what_is_impossible_never_matches(schema: Schema) -> None:
    """Random pairs: expressions over the names of the schema and some others, on valid documents."""
    random = Random(5)
    print("seed 5")
    names = [*{name.partition("#")[0] for name in schema.elements}, "*", "node()", "unknown", "x"]
    attributes = [
        "@*",
        "@system",
        "@unit",
        "@version",
        "@xsi:type",
        "@x",
        "@currency = 'EUR'",
        "@system = 'UGC'",
    ]
    listed = [text for element in schema.elements.values() for text in element.texts or ()]
    texts = [test for text in [*listed, "x"] for test in (f". = '{text}'", f"contains(., '{text[1:]}')")]
    namespaces = {"xsi": "http://www.w3.org/2001/XMLSchema-instance", **schema.namespaces}
    plain = pathcast.Index(namespaces=namespaces)
    strict = pathcast.Index(schema=schema, impossible="error", namespaces=namespaces)
    impossible = []
    for number in range(1500):
        steps = [random.choice(["/", "//"]) + random.choice(names) for _ in range(random.randint(1, 4))]
        if random.random() < 0.4:
            steps.insert(random.randint(1, len(steps)), f"[{random.choice([*attributes, *names, *texts])}]")
        if random.random() < 0.2:
            steps.append("/" + random.choice(attributes[:5]))
        expression = "".join(steps)
        plain.add(number, expression)
        try:
            strict.check(expression)
        except pathcast.XPathError:
            impossible.append(number)
    assert 100 < len(impossible) < 1500
    for document in generate.documents(schema, 200, seed=2):
        assert not set(plain.match(document)) & set(impossible)


def test_texts_that_are_listed_decide() -> None:
    schema = Schema.from_xsd(SCHEMAS["alert"])
    index = pathcast.Index(schema=schema, validate=True, impossible="error", namespaces=schema.namespaces)
    index.add(1, "//al:alert[al:status = 'Test']")
    index.add(2, "//al:status[. = '\n Test']")
    index.add(3, "//al:alert[not(al:status = 'Bogus')]")
    for never in ("/al:alert/al:status[. = 'Bogus']", "/al:alert[al:status = '']", "/*/al:status[. > 3]"):
        with pytest.raises(pathcast.XPathError, match="status' is one of 'Actual', 'Exercise', 'Test'"):
            index.add(4, never)
    document = next(generate.documents(schema, 1, seed=1)).decode()
    status = re.compile("(?<=<al:status>)[^<]*")
    assert index.match(status.sub("T<![CDATA[es]]>t", document)) == [1, 3]
    for text in ("Bogus", "", "Test" + 2_000 * " " + "x", "Te st"):
        with pytest.raises(pathcast.DocumentError, match="does not allow this text"):
            index.match(status.sub(text, document))


def test_a_text_that_may_be_missing_is_not_listed(tmp_path: Path) -> None:
    listed = "<xs:restriction base='xs:token'><xs:enumeration value='on'/></xs:restriction>"
    (tmp_path / "s.xsd").write_text(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>"
        f"<xs:simpleType name='s'>{listed}</xs:simpleType><xs:element name='r'><xs:complexType><xs:sequence>"
        "<xs:element name='a' type='s'/><xs:element name='b' type='s' default='on'/>"
        "<xs:element name='c' type='s' nillable='true'/></xs:sequence></xs:complexType></xs:element>"
        "</xs:schema>"
    )
    schema = Schema.from_xsd(tmp_path / "s.xsd")
    assert [schema.elements[name].texts for name in "abc"] == [("on",), None, None]


def test_what_wildcards_let_in_is_possible() -> None:
    schema = Schema.from_xsd(SCHEMAS["order"], "Order")
    index = pathcast.Index(schema=schema, validate=True, impossible="error", namespaces=schema.namespaces)
    index.add(1, "//ext:ExtensionContent//basic:Note/*[@any]")
    index.add(2, "//agg:Item/@x:y", namespaces={**schema.namespaces, "x": "urn:other"})
    document = next(generate.documents(schema, 1, seed=1)).decode()
    extension = (
        "<ext:Extensions><ext:Extension><ext:ExtensionContent><any xmlns='urn:a'><basic:Note><b any='1'/>"
        "</basic:Note></any></ext:ExtensionContent></ext:Extension></ext:Extensions>"
    )
    start, end = document.find("<ext:Extensions>"), document.find("</ext:Extensions>")
    without = document[:start] + document[end + len("</ext:Extensions>") :] if start >= 0 else document
    extended = without.replace("<basic:ID", extension + "<basic:ID", 1)
    assert schema.validate(extended) == []
    assert index.match(extended) == [1]
    with pytest.raises(pathcast.DocumentError, match="allows no 'ID' inside 'Item'"):
        index.match(document.replace("</agg:Item>", "<basic:ID/></agg:Item>"))


@pytest.mark.parametrize(
    ("xpath", "reason"),
    [
        ("/alert/inof", "no '{urn:example:alert:1}inof' can be directly inside"),
        ("/al:alert/al:info/al:area/al:event", "event' can be directly inside '{urn:example:alert:1}area'"),
        (
            "/alert/info/area/code[@system = 'ISO']",
            "attribute 'system' of '{urn:example:alert:1}code' is one of 'FIPS'",
        ),
        ("/x:alert", "the schema has 'alert' in the namespace 'urn:example:alert:1'"),
    ],
)
def test_reasons(xpath: str, reason: str) -> None:
    schema = Schema.from_xsd(SCHEMAS["alert"])
    index = pathcast.Index(schema=schema, impossible="error", namespaces={**schema.namespaces, "x": "urn:x"})
    with pytest.raises(pathcast.XPathError, match=re.escape(reason)):
        index.check(xpath)


def test_drawing_and_advertisements(schema: Schema) -> None:
    assert draw(schema).count("<rect") >= len(schema.reachable)
    texts = advertisements(schema)
    assert not any("#" in text for text in texts)
    subscriptions = generate.subscriptions(schema, 50, seed=9)
    for expression, _ in zip(subscriptions, range(50), strict=False):
        assert any(overlaps(text, expression, namespaces=schema.namespaces) for text in texts), expression


def test_a_compiled_schema_and_a_saved_index_keep_it(schema: Schema, tmp_path: Path) -> None:
    from pathcast.schema import CompiledSchema

    index = pathcast.Index(
        schema=CompiledSchema(schema.portable.text), prune=True, namespaces=schema.namespaces
    )
    index.add(1, "//*[@*]")
    index.save(tmp_path / "index")
    loaded = pathcast.Index.load(tmp_path / "index")
    for document in itertools.islice(generate.documents(schema, 20, seed=4), 20):
        assert loaded.match(document) == index.match(document)


def test_documents_that_are_not_valid() -> None:
    schema = Schema.from_xsd(SCHEMAS["alert"])
    problem = schema.validate("<alert xmlns='urn:example:alert:1'><sender/></alert>")[0]
    assert "identifier" in problem.message
    assert schema.validate("<alert")[0].line == 1
    assert "root" in schema.validate("<x/>")[0].message


XSD = "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'>{}</xs:schema>"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<a/>",
        XSD.format("<xs:element name='a' type='nowhere'/>"),
        XSD.format("<xs:include schemaLocation='http://127.0.0.1:9/x.xsd'/><xs:element name='a'/>"),
        XSD.format("<xs:include schemaLocation='/etc/passwd'/><xs:element name='a'/>"),
        XSD.format("<xs:include schemaLocation='../outside.xsd'/><xs:element name='a'/>"),
        "<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>"
        + XSD.format("<xs:element name='a'>&e;</xs:element>"),
        XSD.format(""),
    ],
    ids=["empty", "other", "type", "network", "absolute", "outside", "entity", "nothing"],
)
def test_what_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "outside.xsd").write_text(XSD.format("<xs:element name='b'/>"))
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside/a.xsd").write_text(text)
    with pytest.raises(SchemaError):
        Schema.from_xsd(tmp_path / "inside/a.xsd")


def test_any_type_is_anything(tmp_path: Path) -> None:
    (tmp_path / "a.xsd").write_text(XSD.format("<xs:element name='a'/>"))
    index = pathcast.Index(schema=Schema.from_xsd(tmp_path / "a.xsd"), impossible="error", validate=True)
    index.add(1, "/a//b[@c]")
    assert index.match("<a>t<x><b c=''/></x></a>") == [1]
    with pytest.raises(pathcast.XPathError):
        index.add(2, "/b")
