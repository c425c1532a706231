"""The scorers that come with Turnspan, and how scorers are named on a command line.

Each factory here returns a scorer: 1 is right, 0 is wrong, and no score means that the case expects
nothing that it could compare.
"""

from __future__ import annotations

import importlib
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, cast, get_args

import orjson

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_records.access.named_functions import load_function
from turnspan_records.again.cases.dataset import Case
from turnspan_records.again.cases.foreign_scorers import adapted
from turnspan_records.again.cases.scores import (
    PASSED,
    CaseResult,
    NamedScorer,
    Score,
    Scorer,
    ScorerError,
    UsedTool,
    as_text,
    failed,
)

ToolOrder = Literal["exact", "in_order", "any_order", "subset"]
_NUMBER: Final = re.compile(r"[-+]?(?:\d[\d,]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")


def exact() -> Scorer:
    """The answer is the expected one; JSON values are compared as values."""

    def score(case: Case, result: CaseResult) -> Score | None:
        if case.answer is None:
            return None
        found = result.output if isinstance(case.answer, str) else as_text(result.value)
        same = as_text(case.answer) == found
        return PASSED if same else failed(f"expected {_short(case.answer)}")

    return score


def contains() -> Scorer:
    """The answer has the expected text in it, or every text of an expected list."""

    def score(case: Case, result: CaseResult) -> Score | None:
        if case.answer is None:
            return None
        texts = case.answer if is_list(case.answer) else [case.answer]
        missing = [text for text in map(as_text, texts) if text not in result.output]
        return failed(f"without {_short(missing[0])}") if missing else PASSED

    return score


def regex(pattern: str = "") -> Scorer:
    """A regular expression is found in the answer: this one, or the expected answer.

    Raises:
        ScorerError: the expression is not valid.
    """
    given = _compiled(pattern) if pattern else None

    def score(case: Case, result: CaseResult) -> Score | None:
        if given is None and case.answer is None:
            return None
        wanted = given or _compiled(as_text(case.answer))
        return PASSED if wanted.search(result.output) else failed(f"no match of {wanted.pattern}")

    return score


def json_schema(schema: Mapping[str, Any] | str) -> Scorer:
    """The answer is JSON that a JSON Schema allows. References to the network are not followed.

    Args:
        schema: the schema, or the path of its file.

    Raises:
        ScorerError: it is no schema, or the package jsonschema is missing.
    """
    try:
        validators: Any = importlib.import_module("jsonschema.validators")
        errors: Any = importlib.import_module("jsonschema.exceptions")
        registry: Any = importlib.import_module("referencing").Registry()
    except ImportError:
        text = "The scorer json_schema needs jsonschema: pip install 'turnspan[experiments]'."
        raise ScorerError(text) from None
    try:
        read = orjson.loads(Path(schema).read_bytes()) if isinstance(schema, str) else schema
        kind: Any = validators.validator_for(read, validators.Draft202012Validator)
        kind.check_schema(read)
    except (OSError, ValueError, errors.SchemaError) as error:
        raise ScorerError(f"json_schema: {schema!r} is no JSON Schema: {error}.") from None
    validator: Any = kind(read, registry=registry)

    def score(_case: Case, result: CaseResult) -> Score:
        try:
            value = orjson.loads(result.output)
        except orjson.JSONDecodeError as error:
            return failed(f"no JSON: {error}")
        wrong = errors.best_match(validator.iter_errors(value))
        return PASSED if wrong is None else failed(f"{wrong.json_path}: {wrong.message}")

    return score


def numeric(tolerance: float = 1e-9, *, relative: bool = False) -> Scorer:
    """The last number of the answer differs from the expected number by the tolerance at most; with
    ``relative`` by this part of it."""
    bounds = (tolerance, 0.0) if relative else (0.0, tolerance)

    def score(case: Case, result: CaseResult) -> Score | None:
        if case.answer is None:
            return None
        wanted, found = _number(case.answer), _number(result.output)
        if wanted is None:
            raise ScorerError(f"numeric: case {case.id} expects no number: {case.answer!r}.")
        if found is None:
            return failed("no number")
        close = math.isclose(wanted, found, rel_tol=bounds[0], abs_tol=bounds[1])
        return PASSED if close else failed(f"{found:g} instead of {wanted:g}")

    return score


def tools(order: ToolOrder = "in_order", expected: Sequence[Any] | None = None) -> Scorer:
    """The expected tools ran: names, or objects with ``name`` and ``arguments``.

    Args:
        order: ``exact`` (these and no others, in this order), ``in_order`` (others may run in
            between), ``any_order`` (others may run) or ``subset`` (no others ran).
        expected: the tools, else the case's (``Case.tools``).

    Raises:
        ScorerError: there is no such order.
    """
    if order not in get_args(ToolOrder):
        raise ScorerError(f"tools: {order!r} is none of {', '.join(get_args(ToolOrder))}.")

    def score(case: Case, result: CaseResult) -> Score | None:
        wanted = expected if expected is not None else case.tools
        if wanted is None:
            return None
        if _ran_as(order, wanted, list(result.tools)):
            return PASSED
        return failed(f"ran {', '.join(one.name for one in result.tools) or 'no tool'}")

    return score


def cost(most: float) -> Scorer:
    """The attempt cost so many dollars at most; no score where its cost is not known."""

    def score(_case: Case, result: CaseResult) -> Score | None:
        if result.cost_usd is None:
            return None
        return PASSED if result.cost_usd <= most else failed(f"{result.cost_usd:g} USD")

    return score


def latency(most: float) -> Scorer:
    """The attempt took so many seconds at most."""

    def score(_case: Case, result: CaseResult) -> Score:
        return PASSED if result.duration <= most else failed(f"{result.duration:.3g} s")

    return score


def no_errors() -> Scorer:
    """The agent raised no error, and no tool failed."""

    def score(_case: Case, result: CaseResult) -> Score:
        broken = [one.name for one in result.tools if one.failed]
        if result.failed:
            return failed(f"{result.error_type}: {result.error_message}")
        return failed(f"tool {broken[0]} failed") if broken else PASSED

    return score


_BUILT_IN: Final[Mapping[str, tuple[Any, Any]]] = {
    "exact": (exact, None),
    "contains": (contains, None),
    "regex": (regex, str),
    "json_schema": (json_schema, str),
    "numeric": (numeric, float),
    "tools": (tools, str),
    "cost": (cost, float),
    "latency": (latency, float),
    "no_errors": (no_errors, None),
}
"""The factory by name, and what makes its argument of the text behind the colon."""


_NEXT: Final = re.compile(rf",\s*(?=(?:{'|'.join(_BUILT_IN)})(?:[:,]|$)|[\w.]+:[\w.]+(?:,|$))")
"""The comma before the next scorer's name: an expression may have commas of its own."""


def scorers_of(given: Iterable[Any]) -> list[NamedScorer]:
    """Scorers with their names: of texts (``exact,contains``, ``regex:^42$``,
    ``module:function``), functions, evaluators of pydantic-evals and scorers of Inspect AI.

    Raises:
        ScorerError: one cannot be used, or two have one name.
        LoadError: a function that is named cannot be loaded.
    """
    made: dict[str, NamedScorer] = {}
    for one in given:
        for each in _NEXT.split(one) if isinstance(one, str) else [one]:
            scorer = _scorer(each.strip() if isinstance(each, str) else each)
            if scorer.name in made:
                raise ScorerError(
                    f"Two scorers are called {scorer.name!r}: rename one by NamedScorer(name, it)."
                )
            made[scorer.name] = scorer
    return list(made.values())


def _scorer(given: Any) -> NamedScorer:
    if isinstance(given, NamedScorer):
        return given
    if isinstance(given, str):
        name, _, argument = given.partition(":")
        if name in _BUILT_IN:
            return NamedScorer(name, _built_in(name, argument))
        if not argument:
            known = ", ".join(_BUILT_IN)
            raise ScorerError(f"There is no scorer {name!r}, but {known} and module:function.")
        given = load_function(given)
    foreign = adapted(given)
    if foreign is not None:
        return foreign
    if not callable(given):
        raise ScorerError(f"{given!r} is no scorer: give a name or a function (case, result).")
    return NamedScorer(str(getattr(given, "__name__", type(given).__name__)), cast("Scorer", given))


def _built_in(name: str, argument: str) -> Scorer:
    factory: Any
    read: Any
    factory, read = _BUILT_IN[name]
    try:
        if argument and read is None:
            raise ValueError("it takes no argument")
        made: Scorer = factory(read(argument)) if argument else factory()
    except (TypeError, ValueError) as error:
        if isinstance(error, ScorerError):
            raise
        reason = f"{argument!r} does not fit" if argument else f"write {name}:VALUE"
        raise ScorerError(f"Scorer {name!r}: {reason} ({error}).") from None
    return made


def _ran_as(order: ToolOrder, wanted: Sequence[Any], ran: list[UsedTool]) -> bool:
    if order == "exact":
        return len(wanted) == len(ran) and all(map(_is, wanted, ran))
    if order == "in_order":
        left = iter(ran)
        return all(any(_is(one, use) for use in left) for one in wanted)
    # Those with arguments first: a name alone could take the tool that another one needs.
    specific = sorted(wanted, key=lambda one: not is_dict(one) or "arguments" not in one)
    for one in specific:
        at = next((at for at, use in enumerate(ran) if _is(one, use)), None)
        if at is not None:
            del ran[at]
        elif order == "any_order":
            return False
    return order == "any_order" or not ran


def _is(wanted: Any, use: UsedTool) -> bool:
    """Whether a tool that ran is the expected one."""
    if not is_dict(wanted):
        return bool(wanted == use.name)
    return bool(wanted.get("name") == use.name) and (
        "arguments" not in wanted or as_text(wanted["arguments"]) == as_text(use.arguments)
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ScorerError(f"regex: {pattern!r} is no regular expression: {error}.") from None


def _number(value: Any) -> float | None:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    found = _NUMBER.findall(as_text(value))
    return float(found[-1].replace(",", "")) if found else None


def _short(value: Any) -> str:
    text = as_text(value)
    return repr(text if len(text) <= 80 else f"{text[:80]}…")
