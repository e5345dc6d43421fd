"""The page: loads nothing from elsewhere, shows everything as text."""

import re
from xml.etree import ElementTree

import pytest

from ops.evaluate.plots import Spread, curves, spreads, strips
from ops.evaluate.report_html import page
from ops.evaluate.report_json import FORMAT

EVIL = '<script src="https://elsewhere.example/x.js">alert(1)</script>'


def share(count: int, of: int):
    return {"value": count / of, "low": 0.1, "high": 0.9, "count": count, "of": of}


def figures():
    return {name: share(1, 2) for name in ("R@1", "R@4", "R@8", "R@20", "MRR")}


def cut(threshold: float):
    estimates = {name: share(1, 2) for name in ("correct", "wrong", "refused", "false_answers")}
    return estimates | {"threshold": threshold, "false_answers_by_kind": {EVIL: share(1, 2)}}


TEST = {"better": 1, "worse": 0, "same": 1, "p": 1.0, "verdict": "no difference shown"}


@pytest.fixture
def report():
    mode = {"same_as": None, "reranked": False, "took_ms": 3.2, "figures": {"all": figures()}, "ranks": {EVIL: None}}
    chunking = {
        "meaning": EVIL,
        "chunks": 3,
        "destroyed": [EVIL],
        "tokens": 9,
        "header_share": 0.1,
        "truncated": 0,
        "figures": {"all": figures()},
        "plain_bm25": {"figures": {"all": figures()}},
    }
    asked = {"kind": EVIL, "opens_at": 0.4, "distance": 0.4, "answered": True}
    return {
        "format": FORMAT,
        "pincite": "0.1.0",
        "created_at": "2030-01-01T00:00:00+00:00",
        "seconds": 1.0,
        "stamp": {"model": EVIL},
        "corpus": {
            "documents": 1,
            "characters": 10,
            "failed": [{"path": EVIL, "reason": EVIL}],
            "left_out": [],
            "chunks": {"strategy": "default", "indexed": 3},
            "questions": {
                "answerable": {EVIL: {"phrasing": "question", "text": EVIL, "needle": EVIL}},
                "unanswerable": {"u": {"kind": EVIL, "text": EVIL}},
            },
            "chunking": {EVIL: chunking},
            "modes": {"default": mode},
            "tests": [{"of": "modes", "group": "all", "first": EVIL, "second": EVIL, "measure": "R@1", **TEST}],
            "gate": {
                "threshold": 0.5,
                "in_force": cut(0.5),
                "cuts": [cut(0.4), cut(0.5)],
                "answerable": {EVIL: asked},
                "unanswerable": {"u": asked},
            },
        },
        "collections": {
            EVIL: {
                "documents": 1,
                "truncated": 0,
                "blank": 0,
                "queries": 1,
                "unjudged": 0,
                "modes": {"dense": {"same_as": None, "figures": {"nDCG@10": share(1, 2)}}},
                "tests": [{"first": EVIL, "second": EVIL, "measure": "nDCG@10", **TEST}],
            }
        },
        "vectors": {
            "vectors": 3,
            "least_norm": 1.0,
            "greatest_norm": 1.0,
            "pairs": 10,
            "greatest_difference": 1e-7,
        },
        "against": {
            "baseline": EVIL,
            "common": 1,
            "left_out": 0,
            "changed": [EVIL],
            "worse": 0,
            "tests": [{"of": EVIL, "measure": "R@1", **TEST}],
        },
    }


def test_nothing_is_loaded_and_nothing_of_the_documents_is_markup(report):
    made = page(report)
    assert "<script" not in made
    assert made.count("&lt;script") > 10
    assert not re.search(r"""(?:src|href|xlink:href|action)\s*=""", made.replace("src=&quot;", ""))
    assert not re.search(r"url\(|@import", made)
    assert "default-src 'none'" in made


def test_it_has_every_section_and_plots_that_parse(report):
    made = page(report)
    for heading in ("Chunks", "Search", "Refusing", "Vectors", "Not among the first 20"):
        assert f"<h2>{heading}" in made
    plots = re.findall(r"<svg.*?</svg>", made, re.DOTALL)
    assert len(plots) == 5
    for plot in plots:
        assert ElementTree.fromstring(plot).get("aria-label")
    assert "prefers-color-scheme: dark" in made


def test_a_report_of_collections_alone_has_a_page(report):
    report["corpus"] = None
    del report["against"]
    made = page(report)
    assert "<h2>Search" not in made
    assert "1 queries" in made


def test_points_lie_where_their_values_are():
    plot = spreads("t", "k", "share", {"one": {"R@1": Spread(0.5, 0.25, 0.75)}})
    tree = ElementTree.fromstring(plot)
    levels = {text.text: float(text.get("y")) for text in tree.iter("text")}
    circle = next(tree.iter("circle"))
    assert float(circle.get("cy")) == pytest.approx((levels["0.4"] + levels["0.6"]) / 2 - 4, abs=0.2)


def test_plots_of_nothing_are_still_plots():
    for plot in (spreads("t", "a", "u", {}), curves("t", "a", {}, 0.5), strips("t", "a", {}, 0.5)):
        ElementTree.fromstring(plot)
