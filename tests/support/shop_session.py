"""A session of two turns: one with two tools, and one in which the user only says yes."""

from __future__ import annotations

from decimal import Decimal

from support.rows import answered, asked, call, message, said, tool, turn
from turnspan_clickhouse.rows.tables import MessageRow, Record

SYSTEM = message("system", said("You sell shoes."))
HELLO = message("user", said("Hello, size 42?"))
ASKING = message("assistant", asked("c1", "stock", size=42), asked("c2", "price", size=42))
RESENT = message(
    "assistant", asked("c1", "stock", size=42), asked("c2", "price", size=42), name="x"
)
STOCK = message("tool", answered("c1", "3 pairs"))
PRICE = message("tool", answered("c2", "Error: no price"))
REPLY = message("assistant", said("Three pairs."))
YES = message("user", said("yes"))
BYE = message("assistant", said("Done."))

# The reply as it came back in the history has another hash: it was sent with a name.
RESENT.hash = b"resent".ljust(16, b"\0")


def hashes(*messages: MessageRow) -> list[bytes]:
    return [one.hash for one in messages]


def session() -> list[Record]:
    """Two turns: one with two tools, one that only says yes."""
    return [
        *(SYSTEM, HELLO, ASKING, RESENT, STOCK, PRICE, REPLY, YES, BYE),
        turn("t1", 0, user_message="Hello, size 42?", response_text="Three pairs."),
        call("l1", 1, turn_id="t1", round=1, input_messages=hashes(SYSTEM, HELLO),
             output_messages=hashes(ASKING), cost_usd=Decimal("0.25"), input_tokens=10),
        tool("x1", 2, turn_id="t1", round=1, name="stock", call_id="c1", result="3 pairs",
             duration=0.5),
        tool("x2", 3, turn_id="t1", round=1, name="price", call_id="c2", result="Error: no price",
             failed=True, error_type="KeyError"),
        call("l2", 4, turn_id="t1", round=2,
             input_messages=hashes(SYSTEM, HELLO, RESENT, STOCK, PRICE),
             output_messages=hashes(REPLY)),
        turn("t2", 10, user_message="yes", stop_reason="max_tokens"),
        call("l3", 11, turn_id="t2", round=1,
             input_messages=hashes(SYSTEM, HELLO, RESENT, STOCK, PRICE, REPLY, YES),
             output_messages=hashes(BYE)),
    ]  # fmt: skip
