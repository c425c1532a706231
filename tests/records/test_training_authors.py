"""Whose judgments count: what anybody flagged -1 is in no set, and an author's own newest hold."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from support.improved import Improved
from support.landing import insert
from support.representatives import few
from support.rows import PROJECT, T0, tool
from support.training import everything, lines
from turnspan_clickhouse.rows.tables import LlmCall, SpanRow, Withdrawal
from turnspan_clickhouse.store.client import Store
from turnspan_records.training import Filters, TrainingSet, export, rule
from turnspan_records.training.export_request import KINDS, UNITS, Kind

GOOD = (rule("outcome=used"), rule("correction"))
SIDES = ("completion", "chosen", "rejected")
FLAGGED: dict[str, tuple[str, str]] = {
    "turn": ("turn", "bad"),
    "call": ("call", "c-badb"),
    "earlier call": ("call", "c-bada"),
    "session": ("session", "s-bad"),
    "attempt": ("attempt", "a-bad"),
    "artifact": ("artifact", "w-bad"),
    "correction": ("artifact", "h-bad"),
    "consortium": ("consortium", "of-bad"),
    "tool": ("tool", "tool-of-bad"),
    "step": ("span", "step-of-bad"),
    "turn's span": ("span", "bad"),
    "call's span": ("span", "c-badb"),
}
"""What somebody flagged: a name of it, its kind and its id."""
IDS = [f"t{number}" for number in range(12)]
TOLD: list[tuple[str, list[Any]]] = [
    ("outcome", ["used", "rejected", "pending"]),
    ("score", [1.0, 4.0, 9.0]),
    ("training_flag", [-1, 0, 1, 1, 1]),
    ("preference", IDS),
    ("taken back", ["outcome", "training_flag"]),
]


def taken_back(recorded: Improved, id_: str, kind: str, **values: Any) -> None:
    """A withdrawal of the newest judgment of a kind of a turn."""
    recorded.at += 1
    given: dict[str, Any] = {"subject_kind": "turn", "subject_id": id_, "kind": kind, **values}
    recorded.rows.append(
        Withdrawal(
            *(PROJECT,), withdrawal_id=str(recorded.at), created_at=recorded.now(), written_at=T0,
            **given,
        )
    )  # fmt: skip


def judged_by_ada() -> Improved:
    """Two answers to each of two prompts, with tools, artifacts and corrections: all are good."""
    recorded = Improved()
    for id_, question in (("bad", "One?"), ("good", "One?"), ("other", "Two?"), ("more", "Two?")):
        recorded.with_a_tool(id_, question, f"Answer {id_}.", tools=recorded.tools())
        recorded.wrote(f"w-{id_}", id_, f"Answer {id_}.", call_id=f"c-{id_}b")
        recorded.correct(f"h-{id_}", f"w-{id_}", id_, f"Better than {id_}.")
        recorded.rows += [
            tool(f"tool-of-{id_}", turn_id=id_, session_id=f"s-{id_}"),
            SpanRow(
                PROJECT, span_id=f"step-of-{id_}", turn_id=id_, session_id=f"s-{id_}", written_at=T0
            ),
        ]
        for kind, of in (("turn", id_), ("session", f"s-{id_}"), ("call", f"c-{id_}b")):
            recorded.judge(of, "outcome", kind, outcome="used")
            recorded.judge(of, "score", kind, score=9.0 if id_ in ("good", "more") else 2.0)
            recorded.judge(of, "training_flag", kind, training_flag=1)
    for row in recorded.rows:
        if isinstance(row, LlmCall):
            row.attempt_id, row.consortium_id = f"a-{row.turn_id}", f"of-{row.turn_id}"
    for kind, better, worse in (
        ("turn", "good", "bad"),
        ("session", "s-good", "s-bad"),
        ("call", "c-goodb", "c-badb"),
        ("artifact", "w-good", "w-bad"),
    ):
        recorded.prefer(better, worse, subject=kind)
    return recorded


@pytest.mark.parametrize("flagged", few(FLAGGED, ("turn", "correction")))
def test_what_anybody_flagged_out_is_in_no_set(
    embedded: Store, tmp_path: Path, flagged: str
) -> None:
    """Whatever others said of it since, whoever is asked for, and whatever part of it was meant:
    it is in no line of any kind, and everything else is in as many lines as before."""
    recorded = judged_by_ada()
    kind, id_ = FLAGGED[flagged]
    recorded.judge(id_, "training_flag", kind, training_flag=-1, author="eve")
    recorded.judge(id_, "training_flag", kind, training_flag=1, author="ada")
    insert(embedded, *recorded.rows)

    answered = {
        *(("sft", "turn"), ("kto", "turn"), ("reward", "turn"), ("cot", "turn")),
        *(("sft", "call"), ("kto", "call"), ("reward", "call"), ("sft", "session")),
    }
    for number, (set_, unit) in enumerate(product(KINDS, UNITS)):
        # Each flag meets every kind of set and every unit, in another third of their pairs.
        if (sum(divmod(number, len(UNITS))) + [*FLAGGED].index(flagged)) % 3:
            continue
        folder = tmp_path / str(number)
        filters = Filters(authors=("ada",) if number % 2 else ())
        export(embedded, folder, TrainingSet(set_, "trl", unit, filters, good=GOOD))
        sides = [line.get(one) for line in everything(folder) for one in SIDES]
        said = "Better than bad." if flagged == "correction" else "Answer bad."
        # The call before is another sample where a sample is a call.
        whole = flagged != "earlier call" or unit != "call"
        assert said not in str(sides) or not whole, (set_, unit)
        if (set_, unit) in answered:
            assert "Answer good." in str(sides), (set_, unit)
        if set_ in ("sft", "kto", "preference"):
            assert "Better than more." in str(sides), (set_, unit)


@pytest.mark.parametrize("how", ["flagged 0", "flagged 1", "withdrawn"])
def test_a_flag_that_was_taken_back(embedded: Store, tmp_path: Path, how: str) -> None:
    """By whoever had given it: the turn is in the set again."""
    recorded = judged_by_ada()
    recorded.judge("good", "training_flag", training_flag=-1, author="eve")
    if how == "withdrawn":
        taken_back(recorded, "good", "training_flag", author="eve")
    else:
        recorded.judge("good", "training_flag", training_flag=int(how[-1]), author="eve")
    insert(embedded, *recorded.rows)
    wanted = TrainingSet("sft", "trl", good=GOOD)

    assert export(embedded, tmp_path / "set", wanted).counts.dropped["flagged_out"] == 0
    assert "Answer good." in str(everything(tmp_path / "set"))


def test_a_lock_is_its_authors(embedded: Store, tmp_path: Path) -> None:
    """Who locked a lineage, and did not unlock it since, has said so, whoever locked it again."""
    recorded = Improved()
    recorded.lineage("A")
    recorded.result("a1", "A")
    for author, word in (
        *(("ada", "locked"), ("eve", "locked"), ("eve", "unlocked"), ("bob", "locked")),
    ):
        recorded.lock("A", word, author)
    insert(embedded, *recorded.rows)

    made = {
        author: export(
            embedded, tmp_path / author, TrainingSet("sft", filters=Filters(authors=(author,)))
        ).lines
        for author in ("ada", "bob", "eve")
    }

    assert made == {"ada": 1, "bob": 1, "eve": 0}


@pytest.mark.parametrize("kind", ["sft", "preference", "kto", "reward"])
def test_an_authors_own_newest_judgments(
    store: Store, store_kind: str, tmp_path: Path, kind: Kind
) -> None:
    """Of many judgments of three people, some taken back: each of them alone gets the set that a
    store gives in which nobody else had said anything, but for what anybody flagged -1."""
    dice = random.Random(f"{kind} {store_kind}")
    recorded = Improved()
    ids = IDS
    for number, id_ in enumerate(ids):
        recorded.turn(id_, f"Question {number % 4}?", f"Answer {id_}.")
    said: dict[tuple[str, str, str], Any] = {}
    over: dict[tuple[str, frozenset[str]], tuple[str, str]] = {}
    for _ in range(150):
        id_, author = dice.choice(ids), dice.choice(["ada", "bob", "eve"])
        what, values = dice.choice(TOLD)
        value: Any = dice.choice(values)
        if what == "taken back":
            # What an author said before that is not gone; here a second word is the same row.
            taken_back(recorded, id_, value, author=author)
            said.pop((author, id_, value), None)
        elif what == "preference" and value != id_:
            recorded.prefer(id_, value, author=author)
            over[author, frozenset((id_, value))] = (id_, value)
        elif what != "preference":
            recorded.judge(
                id_, what, author=author, annotation_id=f"{author}-{id_}-{what}", **{what: value}
            )
            said[author, id_, what] = value
    insert(store, *recorded.rows)
    out = {id_ for (_, id_, what), value in said.items() if (what, value) == ("training_flag", -1)}
    assert out

    for author in ("ada", "bob", "eve"):
        own = {(id_, what): value for (by, id_, what), value in said.items() if by == author}
        wanted = TrainingSet(
            kind, "trl", filters=Filters(authors=(author,)), pairs=("preferences",), splits={"a": 1}
        )
        export(store, tmp_path / author, wanted)
        found = [shown(kind, line) for line in lines(tmp_path / author / "a.jsonl")]
        used = {id_ for id_ in ids if own.get((id_, "outcome")) == "used"}
        used |= {id_ for id_ in ids if own.get((id_, "training_flag")) == 1}
        bad = {id_ for id_ in ids if own.get((id_, "outcome")) == "rejected"}
        expected: dict[str, set[Any]] = {
            "sft": used - out,
            "kto": {(i, i in used) for i in (used ^ bad) - out},
            "reward": {(i, own[i, "score"]) for i in ids if (i, "score") in own and i not in out},
            "preference": {
                pair
                for (by, _), pair in over.items()
                if by == author
                and not out & {*pair}
                and int(pair[0][1:]) % 4 == int(pair[1][1:]) % 4
            },
        }
        assert set(found) == expected[kind], author


def shown(kind: Kind, line: dict[str, Any]) -> Any:
    """What a line says, of what is expected of its kind."""
    source: dict[str, Any] = line["source"]
    if kind == "preference":
        return source["chosen"]["id"], source["rejected"]["id"]
    said = {"kto": "label", "reward": "score"}.get(kind)
    return (source["id"], line[said]) if said else source["id"]
