"""Streams are fresh: no document is a copy, and their paths repeat no more often than is said."""

from __future__ import annotations

from itertools import islice
from typing import Any

import pytest

from bench import signature
from bench.corpus import yfilter_queries
from bench.workloads import WORKLOADS, Workload, alerts, rules
from pathcast.index import Matches
from pathcast.reference import Expression, parse

DOCUMENTS = 1_000
each_workload = pytest.mark.parametrize("workload", WORKLOADS.values(), ids=list(WORKLOADS))


@each_workload
def test_documents_repeat_no_more_often_than_is_said(workload: Workload) -> None:
    documents = list(islice(workload.documents(5), DOCUMENTS))
    assert signature.repeated(map(signature.values, documents)) == 0
    assert signature.repeated(map(signature.paths, documents)) <= workload.same_paths


@each_workload
def test_a_seed_gives_the_same_stream_and_another_another(workload: Workload) -> None:
    first, again, other = (list(islice(workload.documents(seed), 20)) for seed in (1, 1, 2))
    assert first == again
    assert not set(first) & set(other)
    assert workload.queries(30) == workload.queries(50)[:30]


@each_workload
def test_subscriptions_match_some_documents_as_the_reference_says(workload: Workload) -> None:
    queries = workload.queries(300)
    index = workload.index(queries=queries)
    documents = list(islice(workload.documents(1), 10))
    found = 0
    for document, matches in zip(documents, index.match_many(documents), strict=True):
        assert isinstance(matches, Matches)
        found += len(matches)
        tree = parse(document)
        matched = set(matches)
        for place, query in enumerate(queries):
            expected = _reference(query, workload).matches(tree)
            assert expected == (place in matched), (query, document)
    # The small DTD that stands in for NITF where that is missing lets most paths match.
    most = 1.0 if workload.name == "nitf" and yfilter_queries("153928-d") is None else 0.5
    assert 0 < found < most * len(queries) * len(documents)


def _reference(query: str, workload: Workload) -> Expression:
    variables: dict[str, Any] = {"variables": workload.variables} if "$" in query else {}
    return Expression(query, namespaces=workload.namespaces, **variables)


def test_alerts_are_mixed_as_they_should_be() -> None:
    drawn = alerts.alerts(10_000)
    for kind, share in alerts.KINDS.items():
        assert sum(alert.kind == kind for alert in drawn) / len(drawn) == pytest.approx(share, abs=0.02)


def test_an_alert_says_the_same_as_a_rule() -> None:
    alert = alerts.Alert("headline", {"category": "art"}, word="storm")
    assert alert.xpath() == "/item[contains(headline, 'storm')][category = 'art']"
    assert alert.rule() == {"category": ["art"], "headline": ["storm"]}
    alert = alerts.Alert("not region", {"category": "art"}, not_region="north")
    assert alert.xpath() == "/item[category = 'art'][not(region = 'north')]"
    assert alert.rule() == {"category": ["art"], "region": [{"anything-but": ["north"]}]}


def test_rules_name_the_forms_that_are_left_out() -> None:
    assert set(rules.left_out()) | set(rules.forms()) == set(rules.FORMS)
    assert len(rules.forms()) >= 4
