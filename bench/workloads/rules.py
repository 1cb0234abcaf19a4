"""`rules`: a rule book of invoicing and procurement, and invoices of about 5 KB with the same namespaces.

Rules are long namespaced paths with `count()`, `normalize-space()`, positions, sums and variables, each drawn
from a form with its own names and constants. A form that the installed package refuses is left out, and
`left_out` names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from random import Random
from typing import Any

import pathcast

NAMESPACES = {
    "inv": "urn:example:invoice:2",
    "agg": "urn:example:aggregate:2",
    "bas": "urn:example:basic:2",
}
VARIABLES = {"currency": "EUR", "country": "DE"}
CURRENCIES = ("EUR", "EUR", "EUR", "DKK", "SEK", "USD", "GBP")
COUNTRIES = ("DE", "FR", "NL", "BE", "DK", "SE", "NO", "FI", "PL", "IT", "ES", "PT", "AT", "IE")
UNITS = ("EA", "C62", "KGM", "HUR", "DAY", "MTR", "LTR")
RATES = (0, 5, 7, 9, 12, 19, 20, 21, 25)
TAXES = ("S", "S", "S", "Z", "E", "AE", "K")
LISTS = ("STI", "CPV", "UNSPSC", "HS")
PARTIES = ("Supplier", "Customer", "Payee", "TaxRepresentative")
_NAMES = ("Alder", "Birch", "Cedar", "Elm", "Fir", "Hazel", "Larch", "Maple", "Oak", "Pine", "Rowan", "Yew")
Draw = Callable[[Random], str]


def documents(seed: int) -> Iterator[bytes]:
    """Invoices without end.

    >>> 2_000 < len(next(documents(1))) < 12_000
    True
    """
    random = Random(seed)
    number = 0
    while True:
        yield _invoice(random, number).encode()
        number += 1


def _basic(name: str, value: object, attributes: str = "") -> str:
    return f"<bas:{name}{attributes}>{value}</bas:{name}>"


def _aggregate(name: str, *parts: str) -> str:
    return f"<agg:{name}>{''.join(parts)}</agg:{name}>"


def _invoice(random: Random, number: int) -> str:
    pick, chance = random.choice, random.random
    currency = pick(CURRENCIES)

    def amount(name: str, most: int) -> str:
        return _basic(name, f"{random.uniform(0, most):.2f}", f' currency="{currency}"')

    def maybe(odds: float, part: Callable[[], str]) -> str:
        return part() if chance() < odds else ""

    def party(name: str) -> str:
        company = f"{pick(_NAMES)} {pick(_NAMES)}"
        address = _aggregate(
            "Address",
            maybe(0.7, lambda: _basic("Street", f"{pick(_NAMES)} Street {random.randint(1, 200)}")),
            maybe(0.9, lambda: _basic("City", pick(_NAMES))),
            maybe(0.8, lambda: _basic("PostalZone", f"{random.randint(10_000, 99_999)}")),
            _aggregate("Country", _basic("Code", pick(COUNTRIES))),
        )
        tax = _aggregate(
            "TaxScheme",
            _basic("CompanyID", f"{pick(COUNTRIES)}{random.randint(10**8, 10**9)}"),
            _aggregate("Scheme", _basic("ID", pick(("VAT", "VAT", "VAT", "FC")))),
        )
        contact = _aggregate(
            "Contact",
            maybe(0.6, lambda: _basic("Name", f"  {pick(_NAMES)} {pick(_NAMES)} ")),
            maybe(0.5, lambda: _basic("Telephone", f"+{random.randint(10**9, 10**10)}")),
            maybe(0.6, lambda: _basic("Email", f"{pick(_NAMES).lower()}@example.org")),
        )
        endpoint = _basic("EndpointID", random.randint(10**12, 10**13), f' scheme="{pick(LISTS)}"')
        body = _aggregate(
            "Party", endpoint, _basic("Name", company), address, maybe(0.8, lambda: tax), contact
        )
        return _aggregate(name, body)

    def line(place: int) -> str:
        classes = "".join(
            _aggregate("Classification", _basic("Code", random.randint(1, 500), f' list="{pick(LISTS)}"'))
            for _ in range(random.randint(0, 2))
        )
        properties = "".join(
            _aggregate("Property", _basic("Name", pick(_NAMES)), _basic("Value", random.randint(1, 50)))
            for _ in range(random.randint(0, 2))
        )
        category = _aggregate("TaxCategory", _basic("ID", pick(TAXES)), _basic("Percent", pick(RATES)))
        return _aggregate(
            "Line",
            _basic("ID", place),
            maybe(0.3, lambda: _basic("Note", f"{pick(_NAMES)}   {pick(_NAMES)}")),
            _basic("Quantity", random.randint(1, 40), f' unit="{pick(UNITS)}"'),
            amount("Amount", 5_000),
            _aggregate("Item", _basic("Name", pick(_NAMES)), classes, category, properties),
            _aggregate("Price", amount("Amount", 500)),
        )

    subtotals = "".join(
        _aggregate(
            "Subtotal",
            amount("TaxableAmount", 20_000),
            amount("Amount", 4_000),
            _aggregate("Category", _basic("ID", pick(TAXES)), _basic("Percent", pick(RATES))),
        )
        for _ in range(random.randint(1, 3))
    )
    charges = "".join(
        _aggregate(
            "AllowanceCharge",
            _basic("Indicator", pick(("true", "false"))),
            maybe(0.5, lambda: _basic("ReasonCode", random.randint(41, 105))),
            amount("Amount", 300),
        )
        for _ in range(random.randint(0, 2))
    )
    bindings = "".join(f' xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
    return "".join(
        (
            f"<inv:Invoice{bindings}>",
            _basic("ID", f"INV-{number}"),
            _basic("IssueDate", f"2026-{random.randint(1, 12):02}-{random.randint(1, 28):02}"),
            _basic("TypeCode", pick((380, 380, 381, 384, 389))),
            _basic("Currency", currency),
            maybe(0.4, lambda: _basic("Note", f" {pick(_NAMES)}  {pick(_NAMES)} ")),
            maybe(0.5, lambda: _basic("BuyerReference", random.randint(1, 10**6))),
            party("Supplier"),
            party("Customer"),
            maybe(0.2, lambda: party("Payee")),
            maybe(0.1, lambda: party("TaxRepresentative")),
            maybe(0.4, lambda: _aggregate("Delivery", _basic("Date", "2026-01-31"))),
            _aggregate(
                "PaymentMeans",
                _basic("Code", pick((10, 30, 30, 49, 58))),
                maybe(0.7, lambda: _aggregate("Account", _basic("ID", random.randint(10**9, 10**10)))),
            ),
            charges,
            _aggregate("TaxTotal", amount("Amount", 5_000), subtotals),
            _aggregate(
                "MonetaryTotal",
                amount("LineAmount", 20_000),
                amount("TaxExclusiveAmount", 20_000),
                amount("PayableAmount", 25_000),
            ),
            *(line(place + 1) for place in range(random.randint(1, 8))),
            "</inv:Invoice>",
        )
    )


def _party(random: Random) -> str:
    return f"/inv:Invoice/agg:{random.choice(PARTIES)}/agg:Party"


def _class(random: Random) -> str:
    code, kind = random.randint(1, 500), random.choice(LISTS)
    return f"agg:Item/agg:Classification[bas:Code = '{code}'][bas:Code/@list = '{kind}']"


FORMS: dict[str, Draw] = {
    "a path": lambda r: (
        f"{_party(r)}/agg:Address[agg:Country/bas:Code = '{r.choice(COUNTRIES)}']"
        f"[bas:City = '{r.choice(_NAMES)}']/bas:PostalZone"
    ),
    "a missing part": lambda r: (
        f"/inv:Invoice[not(agg:{r.choice(PARTIES)})]/agg:PaymentMeans"
        f"[bas:Code = '{r.choice((10, 30, 49, 58))}']/agg:Account/bas:ID"
        f"[starts-with(., '{r.randint(100, 999)}')]"
    ),
    "a threshold": lambda r: (
        f"/inv:Invoice/agg:TaxTotal/agg:Subtotal[agg:Category/bas:ID = '{r.choice(TAXES)}']"
        f"[agg:Category/bas:Percent = {r.choice(RATES)}]/bas:TaxableAmount[. > {r.randint(1, 20) * 1_000}]"
    ),
    "a class of goods": lambda r: f"/inv:Invoice/agg:Line/{_class(r)}",
    "a count": lambda r: (
        "/inv:Invoice[count(agg:Line/agg:Item/agg:TaxCategory"
        f"[bas:ID = '{r.choice(TAXES)}']) > {r.randint(2, 7)}]/agg:{r.choice(PARTIES)}/agg:Party/agg:Address"
        f"[agg:Country/bas:Code = '{r.choice(COUNTRIES)}']"
    ),
    "a normalised value": lambda r: (
        f"{_party(r)}/agg:Contact[normalize-space(bas:Name) = '{r.choice(_NAMES)} {r.choice(_NAMES)}']"
    ),
    "a position": lambda r: f"/inv:Invoice/agg:Line[{r.randint(1, 8)}]/{_class(r)}",
    "the last": lambda r: (
        f"/inv:Invoice/agg:Line[last()]/agg:Item[bas:Name = '{r.choice(_NAMES)}']"
        f"/agg:TaxCategory[bas:Percent = {r.choice(RATES)}]"
    ),
    "a variable": lambda r: (
        f"/inv:Invoice[bas:Currency != $currency]/agg:{r.choice(PARTIES)}/agg:Party"
        "[agg:Address/agg:Country/bas:Code != $country]/agg:TaxScheme[agg:Scheme/bas:ID = 'VAT']"
        f"/bas:CompanyID[starts-with(., '{r.choice(COUNTRIES)}{r.randint(10, 99)}')]"
    ),
    "a sum": lambda r: (
        f"/inv:Invoice[sum(agg:Line/bas:Amount) > {r.randint(5, 40) * 1_000}]"
        f"/agg:Supplier/agg:Party[bas:Name = '{r.choice(_NAMES)} {r.choice(_NAMES)}']"
    ),
    "a length": lambda r: (
        f"/inv:Invoice/agg:Line[string-length(normalize-space(bas:Note)) > {r.randint(6, 14)}]/{_class(r)}"
    ),
}


@cache
def forms() -> dict[str, Draw]:
    """The forms that the installed package takes."""
    return {name: draw for name, draw in FORMS.items() if _is_taken(draw(Random(1)))}


def left_out() -> list[str]:
    """The forms that it refuses."""
    return [name for name in FORMS if name not in forms()]


def _is_taken(xpath: str) -> bool:
    variables: dict[str, Any] = {"variables": VARIABLES} if "$" in xpath else {}
    try:
        pathcast.Index(namespaces=NAMESPACES).add(0, xpath, **variables)
    except (TypeError, pathcast.XPathError):
        return False
    return True


def queries(number: int, seed: int = 3) -> list[str]:
    """That many rules; the first of many are the same as few.

    >>> queries(3) == queries(5)[:3]
    True
    """
    random = Random(seed)
    draws = list(forms().values())
    return [random.choice(draws)(random) for _ in range(number)]
