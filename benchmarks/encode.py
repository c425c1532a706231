"""Our Native encoder beside clickhouse-connect's ``NativeTransform``, on the same llm_call rows.

    python benchmarks/encode.py

Prints the CPU time of a row in batches of 1,000 for both, and their ratio.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from turnspan_clickhouse.rows.native_encoder import encode_block
from turnspan_clickhouse.rows.tables import LlmCall, columns

ROWS = 1000
REPEATS = 30


def rows(count: int = ROWS, history: int = 20) -> list[LlmCall]:
    """Calls of 25 sessions as an agent makes them: a growing history, four rounds a turn."""
    hashes = [hashlib.md5(str(n).encode()).digest() for n in range(count + history)]
    return [
        LlmCall(
            project="shop",
            service="support-agent",
            environment="production",
            session_id=f"{n // 40:032x}",
            turn_id=f"{n // 4:032x}",
            trace_id=f"{n // 4:032x}",
            span_id=f"{n:016x}",
            parent_span_id=f"{n // 4:016x}",
            start_time=1_790_000_000_000_000_000 + n * 1_000_000,
            duration=1.25 + n / 1000,
            time_to_first_chunk=0.25,
            round=n % 4,
            provider="openai",
            operation="chat",
            request_model="gpt-5-mini",
            response_model="gpt-5-mini-2026-08-01",
            response_id=f"chatcmpl-{n:024x}",
            request_parameters='{"temperature":0.2,"max_tokens":1024}',
            finish_reasons=["stop"] if n % 4 == 3 else ["tool_calls"],
            input_tokens=1000 + n,
            output_tokens=100 + n % 50,
            cache_read_tokens=512,
            cost_usd=Decimal("0.00125") * n,
            price_version="2026-10",
            input_messages=hashes[n : n + history],
            output_messages=hashes[n + history - 1 : n + history],
            system_prompt=hashes[0],
            tool_definitions=hashes[1],
            response_text="The flight was changed. " * 8 if n % 4 == 3 else "",
            tool_calls='[{"id":"call_1","name":"search","arguments":{"q":"x"}}]',
            agent_name="support",
            scope_name="turnspan.openai",
            attributes={"server.address": "api.openai.com", "app.request": f"r-{n}"},
            writer="host-1234-abcdef01",
            written_at=1_790_000_000_000_000_000,
        )
        for n in range(count)
    ]


def connect_encoder(batch: list[LlmCall]) -> Callable[[], bytes]:
    """clickhouse-connect's encoder over the same values, which it wants column-wise."""
    from clickhouse_connect.datatypes.registry import get_from_name
    from clickhouse_connect.driver.insert import InsertContext
    from clickhouse_connect.driver.transform import NativeTransform

    names = [name for name, _ in columns(LlmCall)]
    types = [get_from_name(kind) for _, kind in columns(LlmCall)]
    transform: Any = NativeTransform()

    def run() -> bytes:
        values: list[Any] = [[getattr(row, name) for row in batch] for name in names]
        context: Any = InsertContext("llm_call", names, types, column_oriented=True, data=values)
        return b"".join(bytes(part) for part in transform.build_insert(context))

    return run


def microseconds(run: Callable[[], object]) -> float:
    """Best CPU microseconds a row."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best / ROWS * 1e6


def main() -> None:
    """Measure both and print the ratio."""
    batch = rows()
    ours = microseconds(lambda: encode_block(LlmCall, batch))
    theirs = microseconds(connect_encoder(batch))
    print(f"llm_call, {len(columns(LlmCall))} columns, batches of {ROWS}, CPU a row:")
    print(f"  turnspan            {ours:6.2f} us")
    print(f"  clickhouse-connect  {theirs:6.2f} us")
    print(f"  ratio               {ours / theirs:6.2f}")


if __name__ == "__main__":
    main()
