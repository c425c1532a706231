"""What a prompt was made of, told from what was sent; and what became of what was left out."""

from __future__ import annotations

import json

import pytest

from support.assembled import TURN, assembled
from support.landing import insert
from support.rows import PROJECT, answered, asked, call, message, said, turn
from turnspan_clickhouse.rows.tables import ContextItemRow, Definition
from turnspan_clickhouse.ship.shipper import ship
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_records.contexts import ItemOutcome, item_outcomes
from turnspan_records.judging.annotation import annotate
from turnspan_records.lookup import RecordRef
from turnspan_records.screens.composition import composition


def test_the_parts_of_a_prompt_add_up_to_what_the_provider_counted(embedded: Store) -> None:
    """By bytes, which are exact; without the provider's count four of them are a token."""
    system = message("system", said("Be brief."))
    first, reply = message("user", said("Hello" * 50)), message("assistant", said("Yes?"))
    asking = message("assistant", asked("k1", "stock", size=42))
    result = message("tool", answered("k1", "none" * 40))
    new = message("user", said("And 43?"))
    every = [system, first, reply, asking, result, new]
    tools = json.dumps([{"name": "stock"}])
    given = [one.hash for one in every]
    insert(
        embedded,
        *every,
        Definition(project=PROJECT, hash=b"t" * 16, kind="tool_definitions", body=tools),
        call("c1", input_messages=given, tool_definitions=b"t" * 16, input_tokens=1001),
        call("c2", 1, input_messages=[*given, b"?" * 16], system_prompt=b"p" * 16,
             input_tokens=None),
    )  # fmt: skip
    made = composition(embedded, PROJECT, "c1")
    bytes_ = {name: len(one.parts) for name, one in (("system", system), ("new", new))}
    assert [(one.name, one.messages) for one in made.parts] == [
        ("system", 1),
        ("tools", 1),
        ("history", 3),
        ("tool results", 1),
        ("new", 1),
    ]
    sizes = {one.name: one.bytes for one in made.parts}
    assert (sizes["system"], sizes["tools"], sizes["new"]) == (
        bytes_["system"],
        len(tools),
        bytes_["new"],
    )
    assert sum(one.tokens for one in made.parts) == made.input_tokens == 1001
    assert made.missing == 0
    unknown = composition(embedded, PROJECT, "c2")
    assert (unknown.input_tokens, unknown.missing) == (None, 2)
    assert unknown.parts[0].tokens == -(-bytes_["system"] // 4)
    with pytest.raises(KeyError):
        composition(embedded, PROJECT, "gone")


def test_outcomes_of_turns_by_whether_they_had_an_item(embedded: Store) -> None:
    """Kept or dropped; one that was there twice is no loss."""
    insert(
        embedded,
        *assembled(),
        *(turn(f"t{n}", n) for n in range(3)),
        *(
            ContextItemRow(project=PROJECT, assembly_id=f"a{n}", turn_id=f"t{n}", item_id="Tides",
                        kept=kept, reason=reason, start_time=n)
            for n, (kept, reason) in enumerate(((True, ""), (True, ""), (False, "duplicate")))
        ),
    )  # fmt: skip
    spool = Spool(embedded.dsn.spool)
    annotate(spool, RecordRef("turn", "t0", PROJECT), outcome="used")
    annotate(spool, RecordRef("turn", TURN, PROJECT), outcome="rejected")
    ship(embedded, spool=spool)
    assert item_outcomes(embedded, PROJECT, "Tides") == [
        ItemOutcome(True, "not judged", 1),
        ItemOutcome(True, "used", 1),
        ItemOutcome(False, "rejected", 1),
    ]
