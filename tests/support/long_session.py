"""A session of more rows than a page keeps in its document."""

from __future__ import annotations

import json

from support.rows import answered, asked, call, message, said, tool, turn
from turnspan_clickhouse.rows.tables import Record

CALLS = 2_500
"""With a row for its tool each: more rows than are all in the document."""


def long_session() -> list[Record]:
    """Calls of 50 turns with a tool each; three messages say a word of their own."""
    rows: list[Record] = []
    before: list[bytes] = []
    for at in range(CALLS):
        turn_id = f"{at // 50:016x}"
        if at % 50 == 0:
            rows.append(turn(turn_id, 2 * at, session_id="long"))
        word = {0: "aardvark", 1_400: "wombat", CALLS - 1: "zebra"}.get(at, f"result {at}")
        given = message("tool", answered(f"c{at - 1}", word), scope="long")
        if at == 0:
            given = message("user", said(word), scope="long")
        asks = message("assistant", asked(f"c{at}", "look", n=at), scope="long")
        # A window of what was said before, so that the test's store stays small.
        sent = [*before[-6:], given.hash]
        rows += [given, asks]
        rows.append(call(f"{at + 2**32:016x}", 2 * at + 0.1, session_id="long", turn_id=turn_id,
                         input_messages=sent, output_messages=[asks.hash]))  # fmt: skip
        rows.append(tool(f"{at + 2**40:016x}", 2 * at + 1, session_id="long", turn_id=turn_id,
                         name="look", call_id=f"c{at}", arguments=json.dumps({"n": at}),
                         failed=at == 1_700, result="" if at == 1_700 else f"result {at + 1}",
                         error_message="no such thing" if at == 1_700 else ""))  # fmt: skip
        before = [*sent, asks.hash]
    return rows
