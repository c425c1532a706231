"""Records of every kind for retention, at random; and what a policy should make of them."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from support.rows import PROJECT, SECOND, call, message, said, tool, turn
from turnspan_clickhouse.rows.loop_tables import AgentVersion, ArtifactRow
from turnspan_clickhouse.rows.tables import (
    Annotation,
    ContextAssemblyRow,
    ContextItemRow,
    Definition,
    LlmCall,
    Record,
    SpanRow,
)
from turnspan_clickhouse.store.client import Store
from turnspan_records.keeping.references import REFERENCES

DAY = 86_400 * SECOND
WINDOW = 90


@dataclass(slots=True)
class World:
    """Records, and what should become of the calls by their id."""

    now: int
    rows: list[Record] = field(default_factory=list[Record])
    fates: dict[str, str] = field(default_factory=dict[str, str])
    flags: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    made: int = 0

    def text(self, kind: str, text: str) -> bytes:
        """A definition; its hash."""
        hash_ = message("system", said(f"{kind} {text}")).hash
        self.rows.append(
            Definition(project=PROJECT, hash=hash_, kind=kind, body=text, written_at=self.now // 2)
        )
        return hash_

    def flag(self, kind: str, id_: str, value: int) -> None:
        """A judgment, the newest of its subject."""
        self.made += 1
        self.flags[kind, id_] = value
        self.rows.append(
            Annotation(
                project=PROJECT, subject_kind=kind, subject_id=id_, kind="training_flag",
                annotation_id=f"{self.made:08d}", training_flag=value, author="ada",
                created_at=self.now - DAY + self.made, written_at=self.now - DAY + self.made,
            )
        )  # fmt: skip

    def fate(self, own: int | None, age: int, status: str = "final") -> str:
        """What becomes of something with this flag."""
        old = age > WINDOW
        if own == 1 and (status != "running" or old):
            return "archived"
        if own == -1 and (status != "running" or old):
            return "excluded"
        return "unassessed" if old and own not in (1, -1) else ""


def world(seed: int, now: int, sessions: int = 12) -> World:
    """Sessions with turns, turns within them, calls of no turn, and judgments of all of them."""
    dice = random.Random(seed)
    made = World(now)
    systems = [made.text("system_instructions", f"You are {one}.") for one in range(4)]
    for number in range(sessions):
        session = f"s{seed}-{number}"
        if dice.random() < 0.2:
            made.flag("session", session, dice.choice((1, -1)))
        history: list[bytes] = []
        for place in range(dice.randint(1, 4)):
            age = dice.choice((1, 30, 89, 91, 200))
            _turn(made, dice, f"{session}-{place}", session, age, systems, history)
        if dice.random() < 0.5:
            _loose_call(made, dice, f"{session}-x", session, dice.choice((1, 91)), systems)
    made.rows.append(AgentVersion(project=PROJECT, version_id="v", content=systems[0]))
    dice.shuffle(made.rows)
    return made


def _turn(
    made: World, dice: random.Random, id_: str, session: str, age: int, systems: list[bytes],
    history: list[bytes], parent: str = "", inherited: int | None = None,
) -> None:  # fmt: skip
    status = "running" if dice.random() < 0.1 else "final"
    begun = made.now - age * DAY
    values: dict[str, Any] = {
        "session_id": session, "trace_id": f"trace-{id_}", "start_time": begun,
        "written_at": begun + SECOND,
    }  # fmt: skip
    of_turn: dict[str, Any] = {**values, "turn_id": id_}
    made.rows.append(
        turn(id_, **values, status=status, parent_turn_id=parent, user_message=f"ask {id_}",
             response_text=f"answer {id_}")
    )  # fmt: skip
    flag: int | None = None
    if dice.random() < 0.4:
        flag = dice.choice((1, -1, 0))
        made.flag("turn", id_, flag)
    calls = [f"{id_}c{number}" for number in range(dice.randint(1, 3))]
    flagged = {one: dice.choice((1, -1)) for one in calls if dice.random() < 0.15}
    for one, value in flagged.items():
        made.flag("call", one, value)
    if flag is None and 1 in flagged.values():
        flag = 1
    if flag is None:
        flag = inherited
    if flag is None:
        flag = made.flags.get(("session", session))
    for one in calls:
        asked = message("user", said(f"{one}?"), scope=session, written_at=begun)
        answer = message("assistant", said(f"{one}!"), scope=session, written_at=begun)
        made.rows += [asked, answer]
        history.append(asked.hash)
        made.rows.append(
            call(one, **of_turn, input_messages=list(history), output_messages=[answer.hash],
                 system_prompt=dice.choice(systems),
                 context_assembled=made.text("context_assembled", f"context of {one}"))
        )  # fmt: skip
        history.append(answer.hash)
        made.rows.append(SpanRow(project=PROJECT, span_id=one, name="chat", **of_turn))
        made.fates[one] = made.fate(flag, age, status)
    made.rows.append(tool(f"{id_}t", **of_turn))
    part: dict[str, Any] = {**of_turn, "project": PROJECT, "assembly_id": f"{id_}a"}
    text = made.text("context_assembled", f"context of {calls[0]}")
    made.rows.append(ContextAssemblyRow(**part, context_hash=text))
    made.rows.append(
        ContextItemRow(**part, item_id="i", content_hash=made.text("item", f"i {id_}"))
    )
    made.rows.append(
        ArtifactRow(
            project=PROJECT, target="page", artifact_id=f"{id_}w", turn_id=id_,
            content=made.text("artifact", f"written by {id_}"), created_at=begun, written_at=begun,
            lineage_id="l" if dice.random() < 0.3 else "",
        )
    )  # fmt: skip
    if not parent and dice.random() < 0.3:
        _turn(made, dice, f"{id_}n", session, age, systems, history, id_, flag)


def _loose_call(
    made: World, dice: random.Random, id_: str, session: str, age: int, systems: list[bytes]
) -> None:
    begun = made.now - age * DAY
    values: dict[str, Any] = {
        "session_id": session, "trace_id": f"trace-{id_}", "start_time": begun,
        "written_at": begun,
    }  # fmt: skip
    made.rows.append(call(id_, **values, system_prompt=dice.choice(systems)))
    made.rows.append(SpanRow(project=PROJECT, span_id=id_, name="chat", **values))
    flag = None
    if dice.random() < 0.5:
        flag = dice.choice((1, -1))
        made.flag("llm_call", id_, flag)
    made.fates[id_] = made.fate(made.flags.get(("session", session)) if flag is None else flag, age)


def now_of(store: Store) -> int:
    """The time of the engine."""
    return int(store.query("SELECT toUnixTimestamp64Nano(now64(9))").rows[0][0])


def every_row(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Every record of every table, in an order of its own."""
    from turnspan_clickhouse.rows.tables import RECORDS

    return {
        record.table: sorted(
            map(tuple, store.query(f"SELECT * FROM {record.table}").rows), key=repr
        )
        for record in RECORDS
    }


def broken_references(store: Store) -> dict[str, int]:
    """References to contents that are not there, and contents that nothing refers to; asked in
    another way than retention does."""
    found: dict[str, int] = {}
    for table in ("definition", "message"):
        scope = "'' AS scope" if table == "definition" else "scope"
        rows = store.query(f"SELECT {scope}, hash FROM {table}").rows
        there = {(str(of), bytes(hash_)) for of, hash_ in rows}
        named: set[tuple[str, bytes]] = set()
        for one in REFERENCES:
            if one.to == table:
                of_call = one.record is LlmCall and table == "message"
                of = "if(session_id = '', trace_id, session_id)" if of_call else "''"
                rows = store.query(f"SELECT {of}, {one.column} FROM {one.record.table}").rows
                for of_row, value in rows:
                    each = value if one.many else [value]
                    named |= {(str(of_row), bytes(hash_)) for hash_ in each}
        named = {one for one in named if any(one[1])}
        found[f"missing {table}"] = len(named - there)
        found[f"unreferenced {table}"] = len(there - named)
    return found
