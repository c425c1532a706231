"""Records to make training data of: agents that answer prompts, and what was thought of it."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from support.rows import PROJECT, T0, answered, asked, call, message, said, turn
from turnspan_clickhouse.rows.tables import NO_HASH, Annotation, Definition, MessageRow, Record

SYSTEM = "You are the assistant of a shop."
TOOLS = [
    {
        "type": "function",
        "name": "stock",
        "description": "How many there are.",
        "parameters": {"type": "object", "properties": {"size": {"type": "integer"}}},
    }
]


@dataclass(slots=True)
class Recorded:
    """Records as an application leaves them."""

    rows: list[Record] = field(default_factory=list[Record])
    at: float = 0.0

    def say(self, *messages: MessageRow) -> list[bytes]:
        """Messages of a session; their hashes."""
        self.rows += messages
        return [one.hash for one in messages]

    def tools(self, tools: Any = None) -> bytes:
        """A tool catalogue."""
        hash_ = b"tools-of-the-shop"[:16]
        body = json.dumps(TOOLS if tools is None else tools)
        self.rows.append(
            Definition(project=PROJECT, hash=hash_, kind="tool_definitions", body=body)
        )
        return hash_

    def turn(
        self,
        id_: str,
        question: str,
        answer: str,
        *,
        session: str = "",
        system: str = SYSTEM,
        history: tuple[MessageRow, ...] = (),
        tools: bytes = NO_HASH,
        **values: Any,
    ) -> None:
        """A turn of one call: a question, and what the model answered."""
        session = session or f"s-{id_}"
        first = message("system", said(system), scope=session)
        asking = message("user", said(question), scope=session)
        reply = message("assistant", said(answer), scope=session)
        self.say(first, *history, asking, reply)
        given = [first.hash, *(one.hash for one in history), asking.hash]
        self.one_call(id_, session, given, [reply.hash], tools=tools, **values)

    def one_call(
        self,
        id_: str,
        session: str,
        given: list[bytes],
        replies: list[bytes],
        *,
        turn_id: str = "",
        tools: bytes = NO_HASH,
        **values: Any,
    ) -> None:
        """A call, and its turn unless it is one of a turn that is told apart."""
        self.at += 10
        if not turn_id:
            self.rows.append(turn(id_, self.at, session_id=session, **values))
        self.rows.append(
            call(f"c-{id_}", self.at + 1, session_id=session, turn_id=turn_id or id_,
                 input_messages=given, output_messages=replies, tool_definitions=tools)
        )  # fmt: skip

    def with_a_tool(self, id_: str, question: str, answer: str, *, tools: bytes = NO_HASH) -> None:
        """A turn of two calls: two tools at once, then the answer."""
        session = f"s-{id_}"
        system = message("system", said(SYSTEM), scope=session)
        asking = message("user", said(question), scope=session)
        calls = message(
            "assistant",
            {"type": "reasoning", "content": "I have to look."},
            asked(f"{id_}-1", "stock", size=42),
            asked(f"{id_}-2", "stock", size=43),
            scope=session,
        )
        # The application sends the calls back without the reasoning.
        echo = message("assistant", *json.loads(calls.parts)[1:], scope=session)
        results = [
            message("tool", answered(f"{id_}-{n}", json.dumps({"left": n})), scope=session)
            for n in (1, 2)
        ]
        reply = message("assistant", said(answer), scope=session)
        self.say(system, asking, calls, echo, *results, reply)
        self.at += 10
        self.rows.append(turn(id_, self.at, session_id=session, rounds=2))
        first = [system.hash, asking.hash]
        self.one_call(f"{id_}a", session, first, [calls.hash], turn_id=id_, tools=tools)
        second = [*first, echo.hash, *(one.hash for one in results)]
        self.one_call(f"{id_}b", session, second, [reply.hash], turn_id=id_, tools=tools)

    def judge(self, id_: str, kind: str, subject: str = "turn", **values: Any) -> None:
        """A judgment of a record."""
        self.at += 1
        known: dict[str, Any] = {
            "project": PROJECT,
            "subject_kind": subject,
            "subject_id": id_,
            "kind": kind,
            "annotation_id": f"{id_}-{kind}-{self.at}",
            "author": "ada",
            "created_at": T0 + round(self.at * 1e9),
            "written_at": T0,
        }
        self.rows.append(Annotation(**{**known, **values}))

    def prefer(self, chosen: str, rejected: str, **values: Any) -> None:
        """That one turn was chosen over another."""
        given = {"chosen_id": chosen, "rejected_id": rejected, **values}
        self.judge(chosen, "preference", **given)


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a file; none where it is not there."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def everything(folder: Path, name: str = "{}.jsonl") -> list[dict[str, Any]]:
    """The lines of every split."""
    return [line for split in ("train", "test") for line in lines(folder / name.format(split))]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder, with its bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def random_records(seed: int, prompts: int = 12, answers: int = 60) -> Recorded:
    """Many answers to few prompts, judged at random, in contradiction too."""
    dice = random.Random(seed)
    made = Recorded()
    ids: list[str] = []
    for number in range(answers):
        id_ = f"{seed:08x}{number:08x}"
        question = f"question {dice.randrange(prompts)}"
        system = SYSTEM if dice.random() < 0.7 else "Be brief."
        text = f"answer {dice.randrange(20)}"
        made.turn(id_, question, text, system=system, tools=dice.choice([NO_HASH, b"t" * 16]))
        ids.append(id_)
        if dice.random() < 0.7:
            made.judge(id_, "score", score=float(dice.randrange(1, 6)))
        if dice.random() < 0.5:
            made.judge(id_, "outcome", outcome=dice.choice(["used", "modified", "rejected"]))
        if dice.random() < 0.2:
            made.judge(id_, "training_flag", training_flag=dice.choice([-1, 0, 1]))
    for _ in range(40):
        made.prefer(dice.choice(ids), dice.choice(ids))
    made.rows.append(
        Definition(project=PROJECT, hash=b"t" * 16, kind="tool_definitions", body=json.dumps(TOOLS))
    )
    return made
