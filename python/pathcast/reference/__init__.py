"""Slow and obvious matcher over lxml: the specification in code.

A subscription is the question `boolean(expression)` asked of a document, and libxml2's XPath 1.0 answers it.
Two things are Pathcast's own, and this module says exactly what they mean:

* **Relative paths match anywhere.** Outside predicates a relative location path `P` is read as `//P`,
  wherever it stands: `a/b` is `//a/b`, `not(a)` is `not(//a)`, `contains(a, 'x')` is
  `contains(//a, 'x')`. Inside predicates XPath's own reading holds.
* **Ordered mode** matches the pattern as an ordered tree, after "Efficient filtering of XML documents with
  XPath expressions" (section 2.2), by trying every mapping. See `ordered.OrderedPattern`.

Everything else is read from the document node: `name() = ''` and `position() = last()` always hold.
Variables are put into the expression as text, `variables.substituted` says how.

Namespaces are handled by rewriting the names of the expression: the key `""` of `namespaces` is the namespace
of unprefixed element names, and `ignore_namespaces` compares local names only.

Every engine is held against this module. It favours being right over being quick. What must be refused is
listed in `testdata/expressions_refused.toml`; where libxml2 departs from the recommendation,
`docs/language.md` lists the case, and Pathcast follows the recommendation.

>>> matches("/a/b[c = 'x']", "<a><b><c>x</c></b></a>")
True
>>> matches("b", "<a><b/></a>"), matches("/b", "<a><b/></a>")
(True, False)
>>> matches("/a[b][c]", "<a><c/><b/></a>"), matches("/a[b][c]", "<a><c/><b/></a>", ordered=True)
(True, False)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, TypeAlias

try:
    from lxml import etree
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "pathcast.reference needs lxml: pip install 'pathcast[reference]'", name=error.name
    ) from None

from pathcast.reference.names import Names, Question
from pathcast.reference.ordered import OrderedPattern
from pathcast.reference.tokens import anywhere, text_of, tokenise
from pathcast.reference.variables import substituted
from pathcast.types import Variables

__all__ = ["Expression", "matches", "parse"]

# lxml ships no types; its trees are opaque here.
Tree: TypeAlias = Any

# What lxml refuses although it only makes a document invalid: an ID that is there twice, an element with two,
# and `xml:id` that is no name or is declared as something else.
_INVALID = frozenset({"DTD_ID_REDEFINED", "DTD_MULTIPLE_ID", "DTD_XMLID_VALUE", "DTD_XMLID_TYPE"})


def matches(
    xpath: str,
    document: bytes | str,
    *,
    ordered: bool = False,
    namespaces: Mapping[str, str] | None = None,
    ignore_namespaces: bool = False,
    variables: Variables | None = None,
) -> bool:
    """Tell whether the document satisfies the expression.

    Raises ValueError for an expression or a document that is refused.

    >>> matches("//n:b", "<a xmlns='urn:x'><b/></a>", namespaces={"n": "urn:x"})
    True
    >>> matches("//b", "<a xmlns='urn:x'><b/></a>", namespaces={"": "urn:x"})
    True
    >>> matches("//b", "<a xmlns='urn:x'><b/></a>", ignore_namespaces=True)
    True
    """
    expression = Expression(
        xpath,
        ordered=ordered,
        namespaces=namespaces,
        ignore_namespaces=ignore_namespaces,
        variables=variables,
    )
    return expression.matches(parse(document))


def parse(document: bytes | str) -> Tree:
    """Read a document into a tree, fetching nothing; ValueError when it is refused.

    A str is taken as it is, whatever encoding its declaration names. Entity declarations are refused.

    >>> parse("<a><b></a>")
    Traceback (most recent call last):
        ...
    ValueError: Opening and ending tag mismatch: b line 1 and a, line 1, column 11
    """
    encoding = "utf-8" if isinstance(document, str) else None
    data = document.encode("utf-8") if isinstance(document, str) else document
    # XML demands that defaults declared in the document itself are added. Asking libxml2 for them also makes
    # it look for an external subset, so it is asked only where there is something to add.
    parser = partial(
        etree.XMLParser,
        encoding=encoding,
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        attribute_defaults=b"<!ATTLIST" in data,
        huge_tree=True,
        strip_cdata=True,
    )
    strict = parser()
    try:
        tree = etree.fromstring(data, strict).getroottree()
    except etree.XMLSyntaxError as error:
        if not {entry.type_name for entry in strict.error_log.filter_from_errors()} <= _INVALID:
            raise ValueError(f"{error.msg}") from None
        tree = etree.fromstring(data, parser(recover=True)).getroottree()
    subset: Any = tree.docinfo.internalDTD
    if subset is not None and any(True for _ in subset.iterentities()):
        raise ValueError("the document declares entities")
    if any(True for _ in tree.iter(etree.Entity)):
        raise ValueError("the document refers to an entity that is not predefined")
    tree.docinfo.clear()  # libxml2 would find comments inside the document type declaration; XPath has none
    _drop_empty_text(tree)
    return tree


def _drop_empty_text(tree: Tree) -> None:
    """Remove the empty text node that libxml2 makes of `<![CDATA[]]>`; XPath has no empty text nodes."""
    for node in tree.iter():
        if isinstance(node.tag, str) and node.text == "":
            node.text = None
        if node.tail == "":
            node.tail = None


class Expression:
    """One subscription, compiled once and asked of many trees.

    >>> expression = Expression("a[@x > 1]")
    >>> expression.matches(parse("<b><a x='2'/></b>")), expression.matches(parse("<a x='1'/>"))
    (True, False)
    """

    def __init__(
        self,
        xpath: str,
        *,
        ordered: bool = False,
        namespaces: Mapping[str, str] | None = None,
        ignore_namespaces: bool = False,
        variables: Variables | None = None,
    ) -> None:
        names = Names(namespaces, ignore=ignore_namespaces)
        xpath = substituted(xpath, variables or {})
        self._question: Question | OrderedPattern
        if ordered:
            self._question = OrderedPattern(xpath, names)
        else:
            # lxml evaluates on the root element, where `string()` or `name()` would mean something else.
            asked = text_of(anywhere(tokenise(xpath)))
            self._question = names.compile(f"/self::node()[boolean({asked})]")

    def matches(self, tree: Tree) -> bool:
        """Tell whether a tree from `parse` satisfies the expression."""
        return self._question(tree)
