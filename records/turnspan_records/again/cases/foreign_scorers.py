"""Evaluators of pydantic-evals and scorers of Inspect AI, used as they are.

Neither package is a dependency: what is adapted has brought its own. Both see input, expected
answer, output and duration; spans of the run they do not see.
"""

from __future__ import annotations

import importlib
from dataclasses import fields
from typing import Any

from turnspan.runtime.type_guards import is_dict, is_list
from turnspan_records.again.cases.dataset import Case
from turnspan_records.again.cases.scores import CaseResult, NamedScorer, Score, as_text


def adapted(given: Any) -> NamedScorer | None:
    """The scorer that an evaluator or a scorer of these packages is; ``None`` for anything else."""
    if hasattr(given, "evaluate_async") and hasattr(given, "get_default_evaluation_name"):
        return NamedScorer(str(given.get_default_evaluation_name()), _pydantic_evals(given))
    info: Any = getattr(given, "__registry_info__", None)
    if getattr(info, "type", "") == "scorer":
        return NamedScorer(str(info.name).rpartition("/")[2], _inspect(given))
    return None


def _pydantic_evals(evaluator: Any) -> Any:
    evaluators: Any = importlib.import_module("pydantic_evals.evaluators")
    otel: Any = importlib.import_module("pydantic_evals.otel")

    async def score(case: Case, result: CaseResult) -> Any:
        counted = {"cost": result.cost_usd, "requests": result.calls}
        counted |= {"input_tokens": result.input_tokens, "output_tokens": result.output_tokens}
        known = {
            "name": case.id,
            "inputs": case.input,
            "metadata": {"tags": list(case.tags)},
            "expected_output": case.answer,
            # In the form of the expected answer: evaluators compare values.
            "output": result.output if isinstance(case.answer, str | None) else result.value,
            "duration": result.duration,
            "_span_tree": otel.SpanTreeRecordingError("Turnspan gives evaluators no spans."),
            "attributes": {},
            "metrics": {name: value for name, value in counted.items() if value is not None},
        }
        kind = evaluators.EvaluatorContext
        context = kind(**{one.name: known.get(one.name) for one in fields(kind)})
        made = await evaluator.evaluate_async(context)
        if is_dict(made):
            return {name: _reasoned(one) for name, one in made.items()}
        return _reasoned(made)

    return score


def _reasoned(made: Any) -> Any:
    """A scalar, or one with a reason, as a score."""
    if not hasattr(made, "reason"):
        return made
    reason = made.reason or ""
    if isinstance(made.value, str):
        return Score(None, made.value, reason)
    return Score(float(made.value), explanation=reason)


def _inspect(scorer: Any) -> Any:
    scoring: Any = importlib.import_module("inspect_ai.scorer")
    solver: Any = importlib.import_module("inspect_ai.solver")
    model: Any = importlib.import_module("inspect_ai.model")

    async def score(case: Case, result: CaseResult) -> Any:
        answer = case.answer
        target = [] if answer is None else answer if is_list(answer) else [answer]
        asked = as_text(case.input)
        output = model.ModelOutput.from_content("turnspan/agent", result.output)
        state = solver.TaskState(
            model=model.ModelName("turnspan/agent"),
            sample_id=case.id,
            epoch=result.repetition,
            input=asked,
            messages=[model.ChatMessageUser(content=asked), output.message],
            output=output,
            completed=True,
            metadata={"tags": list(case.tags)},
        )
        made = await scorer(state, scoring.Target([as_text(one) for one in target]))
        if made is None:
            return None
        number = scoring.value_to_float()
        if is_dict(made.value):
            return {name: float(number(one)) for name, one in made.value.items()}
        label = made.value if isinstance(made.value, str) else ""
        return Score(float(number(made.value)), label, made.explanation or "")

    return score
