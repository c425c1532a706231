"""Scorers: what each makes of an answer, how they are named, and what is no scorer."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from turnspan_records.access.named_functions import LoadError
from turnspan_records.again.cases.dataset import Case
from turnspan_records.again.cases.scorers import scorers_of
from turnspan_records.again.cases.scores import (
    CaseResult,
    NamedScorer,
    Score,
    ScorerError,
    UsedTool,
)

TOOLS = ("search", "read", "search")
USED = tuple(UsedTool(name, {"n": at}) for at, name in enumerate(TOOLS))


def scores(given: Any, expected: Any = None, output: str = "", **values: Any) -> dict[str, Any]:
    """The scores that a scorer gives an answer, by name."""
    [scorer] = scorers_of([given])
    result = CaseResult("c", 1, "a", values.pop("status", "succeeded"), output, **values)
    return {one.name: one.value for one in scorer.scores(Case("q", expected), result)}


@pytest.mark.parametrize(
    ("scorer", "expected", "output", "score"),
    [
        ("exact", "a", "a", 1), ("exact", "a", "a ", 0), ("exact", None, "a", None),
        ("exact", {"a": 1, "b": [None]}, '{"b": [null], "a": 1}', 1), ("exact", 42, "42", 1),
        ("exact", '{"a": 1}', '{"a":1}', 0), ("exact", False, "false", 1), ("exact", "", "", 1),
        ("exact", {"answer": "a", "tools": []}, "a", 1), ("exact", {"tools": ["x"]}, "a", None),
        ("contains", "Paris", "It is Paris.", 1), ("contains", ["a", "b"], "abc", 1),
        ("contains", ["a", "z"], "abc", 0), ("contains", None, "", None),
        (r"regex:^\d{1,3}$", None, "42", 1), ("regex", "b+", "abbc", 1), ("regex", "^b", "ab", 0),
        ("regex", None, "x", None),
        ("numeric", 42, "The answer is 42.", 1), ("numeric", "1,000", "1000.0", 1),
        ("numeric:0.5", 3, "about 3.4", 1), ("numeric:0.5", 3, "3.6", 0), ("numeric", 3, "no", 0),
        ("numeric", None, "3", None), ("numeric", -2.5e3, "-2500", 1),
        ("no_errors", None, "", 1),
    ],
)  # fmt: skip
def test_answers(scorer: str, expected: Any, output: str, score: float | None) -> None:
    """1 is right, 0 is wrong; a case that expects nothing to compare gets no score."""
    name = scorer.partition(":")[0]
    assert scores(scorer, expected, output) == ({} if score is None else {name: score})


@pytest.mark.parametrize(
    ("order", "expected", "score"),
    [
        ("exact", ["search", "read", "search"], 1), ("exact", ["search", "read"], 0),
        ("exact", ["read", "search", "search"], 0),
        ("in_order", ["search", "search"], 1), ("in_order", ["read", "read"], 0),
        ("in_order", ["read", {"name": "search", "arguments": {"n": 2}}], 1),
        ("in_order", [{"name": "search", "arguments": {"n": 2}}, "read"], 0), ("in_order", [], 1),
        ("any_order", ["search", "search", "read"], 1), ("any_order", ["write"], 0),
        ("any_order", ["search", {"name": "search", "arguments": {"n": 0}}], 1),
        ("any_order", ["search", "search", "search"], 0),
        ("subset", ["read", "search", "search", "write"], 1), ("subset", ["search", "read"], 0),
    ],
)  # fmt: skip
def test_tools(order: str, expected: list[Any], score: float) -> None:
    """Which tools ran, in which order, with which arguments."""
    assert scores(f"tools:{order}", {"tools": expected}, tools=USED) == {"tools": score}
    assert scores(f"tools:{order}", "a", tools=USED) == {}


def test_limits_and_failures() -> None:
    """An attempt that failed is wrong; a cost that is not known is not scored."""
    assert scores("cost:0.5", cost_usd=0.5) == {"cost": 1}
    assert scores("cost:0.5", cost_usd=0.51) == {"cost": 0}
    assert scores("cost:0.5") == {}
    assert scores("latency:2", duration=2.5) == {"latency": 0}
    assert scores("no_errors", status="failed", error_type="ValueError") == {"no_errors": 0}
    assert scores("no_errors", tools=(UsedTool("t", {}, failed=True),)) == {"no_errors": 0}
    assert scores("exact", "a", status="failed") == {"exact": 0}


def test_json_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON that a schema allows; what a reference of a schema names is never fetched."""
    schema = {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}}
    path = tmp_path / "schema.json"
    path.write_text(json.dumps(schema))
    for output, score in (('{"a": 1}', 1), ('{"a": "x"}', 0), ("no", 0), ("", 0)):
        assert scores(f"json_schema:{path}", output=output) == {"json_schema": score}
    for wrong in ('{"type": "nothing"}', "no", "[1]"):
        path.write_text(wrong)
        with pytest.raises(ScorerError, match="is no JSON Schema"):
            scorers_of([f"json_schema:{path}"])
    path.write_text('{"$ref": "http://127.0.0.1:9/schema.json"}')
    [scorer] = scorers_of([f"json_schema:{path}"])
    with pytest.raises(Exception, match="Unresolvable"):
        scorer.scores(Case("q"), CaseResult("c", 1, "a", "succeeded", "{}"))


async def later(case: Case, result: CaseResult) -> Score:
    """A scorer that awaits."""
    return Score(0.25, "weak", "why", name="other")


def returning(value: Any) -> Any:
    """A scorer that returns this."""

    def returned(case: Case, result: CaseResult) -> Any:
        return value

    return returned


def test_functions() -> None:
    """A function returns a number, a truth, a label, a Score, several by name, or nothing; it may
    be async. Anything else is an error."""
    for value, score in ((True, 1.0), (3, 3.0), ("good", None)):
        assert scores(returning(value)) == {"returned": score}
    assert scores(returning(None)) == {}
    assert scores(later) == {"other": 0.25}
    assert scores(NamedScorer("both", returning({"x": 1, "y": Score(None, "l")}))) == {
        "both.x": 1.0, "both.y": None,
    }  # fmt: skip
    for wrong in (object(), [1], float("nan")):
        with pytest.raises(ScorerError, match="returned"):
            scores(returning(wrong))


def test_names_on_a_command_line() -> None:
    """Commas stand between scorers, and in expressions; what cannot be used says what to do."""
    names = [one.name for one in scorers_of(["exact,latency:3", "regex:^(a|b), c$,numeric"])]
    assert names == ["exact", "latency", "regex", "numeric"]
    assert [one.name for one in scorers_of([f"{__name__}:later"])] == ["later"]
    for given, said in (
        ("exac", "There is no scorer 'exac', but exact"),
        ("exact:1", "'1' does not fit"),
        ("cost", "write cost:VALUE"),
        ("numeric:x", "'x' does not fit"),
        ("regex:(", "no regular expression"),
        ("tools:backwards", "none of exact, in_order"),
        ("exact,exact", "Two scorers are called 'exact'"),
        (3, "is no scorer"),
    ):
        with pytest.raises(ScorerError, match=said):
            scorers_of([given])
    for given, said in (
        ("nowhere.at.all:f", "cannot be imported"),
        ("json:nothing", "has no 'nothing'"),
        ("json:__name__", "not a function"),
    ):
        with pytest.raises(LoadError, match=said):
            scorers_of([given])


def test_what_looks_like_another_packages_scorer_is_adapted() -> None:
    """By its form alone: the packages themselves are no dependencies."""
    info = SimpleNamespace(type="metric", name="inspect_ai/accuracy")
    marked = returning(True)
    marked.__registry_info__ = info
    assert scores(marked) == {"returned": 1.0}
