"""The records of two consortium runs: one of two iterations, and one without a single call."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from support.rows import PROJECT, SECOND, T0, call
from turnspan import semconv
from turnspan_clickhouse.rows import consortium_tables as tables
from turnspan_clickhouse.rows.native_types import EncodedMap
from turnspan_clickhouse.rows.record import Record
from turnspan_clickhouse.rows.tables import Definition, LlmCall

JURY, QUIET = "2aJury00000000000000000jury", "2bQuiet0000000000000000none"
MEMBERS = {name: f"{number:016x}" for number, name in enumerate(("a1", "b1", "c1", "a2", "b2"), 1)}
ARBITERS = ("00000000000000a1", "00000000000000a2")


def at(seconds: float) -> int:
    return T0 + round(seconds * SECOND)


def made(record: Any, run: str, /, **values: Any) -> Any:
    return record(project=PROJECT, consortium_id=run, written_at=T0, **values)


def prompted(number: int, body: str) -> Any:
    return Definition(
        project=PROJECT, hash=bytes([number]) * 16, kind="consortium_prompt", body=body
    )


def member(name: str, iteration: int, model: str, begun: float, **values: Any) -> Any:
    return made(
        tables.ConsortiumMember,
        JURY,
        iteration=iteration,
        member_id=MEMBERS[name],
        model=model,
        started_at=at(begun),
        **values,
    )


def decision(iteration: int, begun: float, **values: Any) -> Any:
    return made(
        tables.ConsortiumIteration,
        JURY,
        iteration=iteration,
        arbiter_id=ARBITERS[iteration - 1],
        started_at=at(begun),
        duration=0.5,
        **values,
    )


def asked(span_id: str, block: str, begun: float, **values: Any) -> LlmCall:
    known: dict[str, Any] = {
        "consortium_id": JURY,
        "consortium_role": 0,
        "input_tokens": 10,
        "output_tokens": 5,
        "cost_usd": Decimal("0.001"),
        "duration": 1.0,
        "attributes": EncodedMap.of({semconv.CONSORTIUM_MEMBER: block} if block else {}),
    }
    return call(span_id, begun, **{**known, **values})


def consortium_rows() -> list[Record]:
    """All their records."""
    return [
        *(prompted(1, "Which?"), prompted(2, "The second.")),
        made(
            tables.Consortium, JURY, name="jury", strategy="rank", prompt=b"\1" * 16,
            final_text=b"\2" * 16, status="finished", iterations=2, source="live",
            session_id="s1", trace_id="f" * 32, started_at=at(0), duration=9.0,
        ),
        member("a1", 1, "m-a", 0.1, duration=1.2),
        member("b1", 1, "m-b", 0.1, duration=1.1),
        member("c1", 1, "m-c", 0.1, duration=0.2, error_type="Timeout", error_message="late"),
        decision(1, 2, model="judge", confidence=0.4, ranking=["m-a", "m-b"], needs_iteration=1,
                 refinement_areas=["sources"]),
        member("a2", 2, "m-a", 4, duration=1.5),
        member("b2", 2, "m-b", 4, duration=3.5, instance="2", answer="abcd"),
        decision(2, 8, confidence=0.9, ranking=["m-b#2", "m-a"], synthesis="The second.",
                 reasoning="clearer", needs_iteration=0),
        asked("c000000000000001", MEMBERS["a1"], 0.2, response_text="wxyz"),
        asked("c000000000000002", MEMBERS["b1"], 0.2, response_text="abcd"),
        asked("c000000000000003", MEMBERS["c1"], 0.2, error_type="Timeout", cost_usd=None),
        asked("c000000000000004", ARBITERS[0], 2.1, consortium_role=2, request_model="judge"),
        asked("c000000000000005", MEMBERS["a2"], 4.1, response_text=" draft "),
        asked("c000000000000006", MEMBERS["a2"], 4.9, response_text=" abcd "),
        asked("c000000000000007", MEMBERS["b2"], 4.1, response_text="not this"),
        asked("c000000000000008", ARBITERS[1], 8.1, consortium_role=1, request_model="judge-2"),
        asked("c000000000000009", "", 3, consortium_role=None),
        made(tables.Consortium, QUIET, status="failed", source="import", started_at=at(60),
             duration=2.0, error_type="ValueError", prompt=b"\1" * 16,
             attributes=EncodedMap.of({semconv.CONSORTIUM_GROUPED_BY: "interval,text",
                                       semconv.CONSORTIUM_MISSING: "2"})),
    ]  # fmt: skip
