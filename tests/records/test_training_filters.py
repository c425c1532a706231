"""Which records become samples: filters, rules, judgments of what they are part of, thresholds."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from support.landing import insert
from support.representatives import few
from support.rows import message
from support.rows import said as said_
from support.training import Recorded, everything, lines
from turnspan_clickhouse.rows.tables import LlmCall, TurnSummary
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.window import window
from turnspan_records.training import ExportError, Filters, TrainingSet, export, rule, tokens
from turnspan_records.training.export_request import (
    FORMATS,
    KINDS,
    UNITS,
    Format,
    Kind,
    Together,
    Unit,
)

ANY = (rule("any"),)


def ids(store: Store, folder: Path, **values: Any) -> str:
    """The units that became lines, in the order of their names."""
    given: dict[str, Any] = {"kind": "sft", "format": "trl", "good": ANY, **values}
    export(store, folder, TrainingSet(**given))
    return " ".join(sorted(line["source"]["id"] for line in everything(folder)))


def test_filters(store: Store, tmp_path: Path) -> None:
    """Of the turn, of its calls, of what was said, and by a condition in SQL; all have to hold."""
    recorded = Recorded()
    recorded.turn("t1", "Q1?", "A.", agent_name="a", agent_version="1")
    recorded.turn("t2", "Q2?", "A.", agent_name="b", stop_reason="loop_detected:search")
    recorded.turn("t3", "Q3?", "A.", agent_name="b", tool_call_count=7)
    recorded.turn("t4", "Q4?", "A.", project="other")
    for row in recorded.rows:
        if "t4" in (getattr(row, "turn_id", ""), getattr(row, "scope", "")[2:]):
            row.project = "other"  # type: ignore[attr-defined]
    recorded.judge("t1", "score", score=8.0)
    recorded.judge("t3", "score", score=8.0, author="bob")
    insert(store, *recorded.rows)
    asked: dict[str, Filters] = {
        "t1 t2 t3 t4": Filters(),
        "t4": Filters(project="other"),
        "t2 t3": Filters(agents=("b",)),
        "t1": Filters(versions=("1", "2")),
        "t2": Filters(stop_reasons=("loop_detected",)),
        "t3": Filters(where="tool_call_count > 5 OR 1 = 0 -- and no more"),
        "t1 t3": Filters(only=(rule("score>=8"),)),
        "": Filters(models=("gpt-5",)),
    }

    assert {
        wanted: ids(store, tmp_path / f"set{number}", filters=filters)
        for number, (wanted, filters) in enumerate(asked.items())
    } == {wanted: wanted for wanted in asked}
    only_bob = Filters(only=(rule("score>=8"),), authors=("bob",))
    assert ids(store, tmp_path / "bob", filters=only_bob) == "t3"
    late = Filters(window=window("2026-09-21T14:13:35"))  # they began ten seconds apart
    assert ids(store, tmp_path / "late", filters=late) == "t2 t3 t4"
    assert ids(store, tmp_path / "calls", unit="call", filters=Filters(where="turn_id = 't2'")) == (
        "c-t2"
    )


@pytest.mark.parametrize(
    "where",
    ["nothing > 1", "1) OR (1", "file('/etc/passwd') != ''", "1); DROP TABLE llm_call; --"],
)
def test_a_condition_reads_records_only(store: Store, tmp_path: Path, where: str) -> None:
    """What is no condition, or does more, is refused; nothing is left, and nothing was done."""
    recorded = Recorded()
    recorded.turn("t1", "Q?", "A.")
    insert(store, *recorded.rows)
    folder = tmp_path / "set"

    if where == "1) OR (1":  # odd, but it reads only: every unit of the sessions at hand
        assert ids(store, folder, filters=Filters(where=where)) == "t1"
        return
    with pytest.raises(ExportError, match="condition"):
        ids(store, folder, filters=Filters(where=where))
    assert not folder.exists()
    assert store.query("SELECT count() FROM llm_call").rows == [(1,)]


def test_a_judgment_of_the_whole_counts_for_its_parts(store: Store, tmp_path: Path) -> None:
    """A session's for its turns and calls, unless they have one of their own."""
    recorded = Recorded()
    recorded.turn("t1", "Q1?", "A.", session="s")
    recorded.turn("t2", "Q2?", "A.", session="s")
    recorded.judge("s", "score", "session", score=9.0)
    recorded.judge("t2", "score", score=1.0)
    insert(store, *recorded.rows)
    good = {"good": (rule("score>=8"),)}

    assert ids(store, tmp_path / "turns", **good) == "t1"
    assert ids(store, tmp_path / "calls", unit="call", **good) == "c-t1"
    assert ids(store, tmp_path / "bad", good=(rule("score<8"),)) == "t2"


def test_calls_without_a_turn_or_session(store: Store, tmp_path: Path) -> None:
    """A call is a sample, a trace the session of its calls."""
    recorded = Recorded()
    recorded.turn("t1", "Q?", "A.", session="e" * 32)
    for row in recorded.rows:
        if isinstance(row, LlmCall):
            row.session_id = ""
            row.trace_id = "e" * 32
            row.turn_id = ""
    rows = [row for row in recorded.rows if row.table != "turn_summary"]
    insert(store, *rows)

    assert ids(store, tmp_path / "calls", unit="call") == "c-t1"
    assert ids(store, tmp_path / "sessions", unit="session") == "e" * 32
    assert ids(store, tmp_path / "turns") == ""


@pytest.mark.parametrize("form", few(FORMATS, ("trl",)))
@pytest.mark.parametrize("kind", few(KINDS, ("sft", "preference")))
def test_a_set_without_lines_is_none(
    embedded: Store, tmp_path: Path, kind: Kind, form: Format
) -> None:
    """No folder is left of it, nor anything beside; what was dropped is told. A folder that was
    there stays, and takes a set as before."""
    recorded = Recorded()
    recorded.turn("t1", "Q?", "A.")
    recorded.judge("t1", "training_flag", training_flag=-1)
    insert(embedded, *recorded.rows)
    (tmp_path / "sets" / "there").mkdir(parents=True)

    for name in ("new", "there"):
        made = export(embedded, tmp_path / "sets" / name, TrainingSet(kind, form, good=ANY))
        assert (made.lines, made.files) == (0, ())
        assert made.manifest["dropped"] == {"flagged_out": 1}
    assert [path.name for path in (tmp_path / "sets").iterdir()] == ["there"]
    assert list((tmp_path / "sets" / "there").iterdir()) == []


def test_equal_and_nearly_equal_answers(store: Store, tmp_path: Path) -> None:
    """Equal answers to one prompt are one line; nearly equal ones where that is asked for."""
    recorded = Recorded()
    text = "The order has left our house in the morning and comes with the next post, says {}."
    for id_, name in (("t1", "Ada"), ("t2", "Ada"), ("t3", "Bob")):
        recorded.turn(id_, "Where is my order that I made a week ago?", text.format(name))
    recorded.turn("t4", "Something else entirely?", "Quite.")
    insert(store, *recorded.rows)
    wanted = TrainingSet("sft", "trl", good=ANY)
    nearly = TrainingSet("sft", "trl", good=ANY, near=0.7)

    exact = export(store, tmp_path / "exact", wanted)
    near = export(store, tmp_path / "near", nearly)

    assert (exact.lines, exact.manifest["dropped"]) == (3, {"duplicate": 1})
    assert (near.lines, near.manifest["dropped"]) == (2, {"duplicate": 1, "near_duplicate": 1})
    assert "rensa" in near.manifest["thresholds"]["near_duplicates_by"]


def test_long_samples_are_dropped(store: Store, tmp_path: Path) -> None:
    """By an estimate, or by the tokenizer that is named, which the manifest says."""
    recorded = Recorded()
    recorded.turn("t1", "Short?", "Yes.")
    recorded.turn("t2", "Long?", "word " * 200)
    insert(store, *recorded.rows)
    words = Tokenizer(WordLevel({"?": 0}, unk_token="?"))
    words.pre_tokenizer = Whitespace()
    words.save(str(tmp_path / "tokenizer.json"))

    estimated = TrainingSet("sft", "trl", good=ANY, max_tokens=100)
    counted = TrainingSet(
        *("sft", "trl"), good=ANY, max_tokens=214, tokenizer=str(tmp_path / "tokenizer.json")
    )
    about = export(store, tmp_path / "estimated", estimated)
    exact = export(store, tmp_path / "counted", counted)

    assert about.manifest["dropped"] == {"too_long": 1}
    assert "estimate" in about.manifest["thresholds"]["tokens_by"]
    assert exact.manifest["dropped"] == {}
    assert "tokenizer.json" in exact.manifest["thresholds"]["tokens_by"]
    tokens = [line["source"]["tokens"] for line in everything(tmp_path / "counted")]
    assert sorted(tokens) == [8 + 2 + 2, 8 + 2 + 200]


def test_tiktoken_counts_where_its_data_is_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is not asked where it is not, or is another's: it would fetch it."""
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    asked: list[str] = []
    words = SimpleNamespace(encode_ordinary=str.split)

    def encoding(name: str) -> SimpleNamespace:
        asked.append(name)
        return words

    library = SimpleNamespace(get_encoding=encoding)
    monkeypatch.setitem(sys.modules, "tiktoken", library)
    monkeypatch.setattr(importlib.metadata, "version", {"tiktoken": "1.2"}.get)
    data = b"YQ== 0"

    for name in ("o200k_base", "p1k"):
        with pytest.raises(ExportError, match=r"not at hand|name one of tiktoken:cl100k_base"):
            tokens.Tokens(f"tiktoken:{name}")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(data)
    with pytest.raises(ExportError, match="fb374d419588a4632f3f557e76b4b70aebbca790"):
        tokens.Tokens("tiktoken:o200k_base")
    assert asked == []
    hashed = hashlib.sha256(data).hexdigest()
    monkeypatch.setitem(tokens._TIKTOKEN_DATA, "o200k_base", hashed)  # pyright: ignore[reportPrivateUsage]

    counted = tokens.Tokens("tiktoken:o200k_base")

    assert counted.of("a b c") == 3
    assert counted.by == f"tiktoken 1.2, o200k_base, sha256 {hashed[:16]}"


def test_what_is_said_both_good_and_bad_has_no_label(store: Store, tmp_path: Path) -> None:
    """The same answer to the same prompt, used once and rejected once: neither is written."""
    recorded = Recorded()
    for id_, answer, outcome in (
        ("t1", "Yes.", "used"),
        ("t2", "Yes.", "rejected"),
        ("t3", "No.", "rejected"),
        ("t4", "Perhaps.", "modified"),
    ):
        recorded.turn(id_, "Is it?", answer)
        recorded.judge(id_, "outcome", outcome=outcome)
    insert(store, *recorded.rows)

    made = export(store, tmp_path / "set", TrainingSet("kto", "trl"))

    (line,) = everything(tmp_path / "set")
    assert (line["completion"][0]["content"], line["label"]) == ("No.", False)
    assert made.manifest["dropped"] == {"label_contradicted": 2}
    assert made.counts.judged_otherwise == 1


@pytest.mark.parametrize(
    ("library", "values"),
    [
        ("rensa", {"near": 0.9}),
        ("pyarrow", {"format": "parquet"}),
        ("tokenizers", {"tokenizer": __file__}),
    ],
)
def test_without_the_extra_it_says_what_to_install(
    embedded: Store,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    library: str,
    values: dict[str, Any],
) -> None:
    """Only where what is missing is asked for."""
    recorded = Recorded()
    recorded.turn("t1", "Q?", "A.")
    insert(embedded, *recorded.rows)
    monkeypatch.setitem(sys.modules, library, None)

    with pytest.raises(ExportError, match=r"pip install 'turnspan\[export\]'"):
        ids(embedded, tmp_path / "set", **values)
    assert ids(embedded, tmp_path / "set") == "t1"


@pytest.mark.parametrize(
    "text", ["", "outcome>used", "flag=good", "score", "size>=3", "score>=nan"]
)
def test_what_is_no_rule(text: str) -> None:
    """The message says what would be one."""
    with pytest.raises(ExportError, match="outcome=used"):
        rule(text)


@pytest.mark.parametrize(
    "values",
    [
        {"kind": "rlhf"},
        {"kind": "sft", "format": "xml"},
        {"kind": "sft", "unit": "span"},
        {"kind": "sft", "splits": {}},
        {"kind": "sft", "splits": {"train": 0.5}},
        {"kind": "sft", "splits": {"../up": 1.0}},
        {"kind": "sft", "near": 2.0},
        {"kind": "sft", "margin": 0.0},
        {"kind": "sft", "images": "files"},
        {"kind": "sft", "pairs": ("guesses",)},
    ],
)
def test_what_cannot_be_asked_for(values: dict[str, Any]) -> None:
    """It is said before anything is read."""
    with pytest.raises(ExportError):
        TrainingSet(**values)


def test_turns_without_an_end_are_no_good_examples(store: Store, tmp_path: Path) -> None:
    """A last call that failed, and a reply that a limit or a filter cut, unless they are asked for;
    a failed call that was made again with success leaves its turn as it is."""
    recorded = Recorded()
    ends = {"whole": "stop", "length": "length", "gemini": "MAX_TOKENS", "filter": "content_filter"}
    for id_ in (*ends, "failed", "again"):
        recorded.turn(id_, f"Question {id_}?", f"Answer {id_}.")
    for row in recorded.rows:
        if isinstance(row, LlmCall) and row.turn_id in ends:
            row.finish_reasons = [ends[row.turn_id]]
    recorded.one_call("failed2", "s-failed", [], [], turn_id="failed")
    recorded.rows[-1].error_type = "APIError"  # type: ignore[attr-defined]
    [first] = [one for one in recorded.rows if isinstance(one, LlmCall) and one.turn_id == "again"]
    earlier = replace(
        first, span_id="c-again0", start_time=first.start_time - 1, output_messages=[]
    )
    earlier.error_type = "APIError"
    insert(store, *recorded.rows, earlier)

    assert ids(store, tmp_path / "good") == "again whole"
    every = ids(store, tmp_path / "all", unfinished=True)
    assert every == "again failed filter gemini length whole"


CUT = (
    *("refusal", "content_filter", "cancelled", "canceled", "error", "failed", "incomplete"),
    *("length", "FinishReason.SAFETY", "MAX_TOKENS", "stream"),
)
UNHEARD = ("APIError", "")
"""The error of a last call that said nothing; none where it was cancelled."""


def of_two_turns(recorded: Recorded, id_: str, at: int, **said: Any) -> LlmCall:
    """A session of two turns, of which one has an answer of its own, and what was said of all
    three; the call that answered there."""
    answers = [f"Answer {id_}." if turn == at else "A." for turn in (0, 1)]
    asked, told = message("user", said_("Q?"), scope=id_), said_(answers[0])
    recorded.turn(f"{id_}-0", "Q?", answers[0], session=id_)
    history = (asked, message("assistant", told, scope=id_))
    recorded.turn(f"{id_}-1", "And then?", answers[1], session=id_, history=history)
    for kind, one in (("session", id_), ("turn", f"{id_}-0"), ("turn", f"{id_}-1")):
        for what, value in said.items():
            recorded.judge(one, what, kind, **{what: value})
    found = [one for one in recorded.rows if isinstance(one, LlmCall)]
    return next(one for one in found if one.turn_id == f"{id_}-{at}")


@pytest.mark.parametrize("case", few(list(product((0, 1), UNITS)), [(1, "call")]))
def test_what_is_cut_is_no_good_example(
    embedded: Store, tmp_path: Path, case: tuple[int, Unit]
) -> None:
    """Wherever in a session, however it was cut: it may be a bad one, or one that was scored. What
    ends with a call that failed or was cancelled before it said anything is none at all."""
    at, unit = case
    recorded = Recorded()
    said = {"good": {"outcome": "used", "score": 9.0}, "bad": {"outcome": "rejected", "score": 2.0}}
    for side, judged in said.items():
        for how in CUT:
            row = of_two_turns(recorded, f"{side}-cut-{how}", at, **judged)
            row.stream_outcome = "abandoned" if how == "stream" else ""
            row.finish_reasons = [] if how == "stream" else [how]
        for error in UNHEARD:
            row = of_two_turns(recorded, f"{side}-unheard-{error}", at, **judged)
            late = replace(row, span_id=f"late-{side}{error}", start_time=row.start_time + 1)
            late.output_messages, late.error_type = [], error
            recorded.rows.append(late)
    of_two_turns(recorded, "good-whole", at, **said["good"])
    insert(embedded, *recorded.rows)

    def made(kind: Kind, **values: Any) -> set[tuple[str, str]]:
        """Label or side, and session, of what became a line of that turn or session."""
        folder = tmp_path / f"{kind}{len(values)}"
        export(embedded, folder, TrainingSet(kind, "trl", unit, pairs=("scores",), **values))
        found: set[tuple[str, str]] = set()
        for line in everything(folder):
            source, label = line["source"], str(line.get("label", ""))
            sides = ("chosen", "rejected") if kind == "preference" else (label,)
            for side in sides:
                one = source[side] if kind == "preference" else source
                if unit == "session" or one["id"].endswith(f"-{at}"):
                    found.add((side, one["session_id"]))
        return found

    good_cut, bad_cut = ({f"{side}-cut-{how}" for how in CUT} for side in ("good", "bad"))
    # A call by itself is whole, whatever came after it.
    good = {"good-whole"} | {f"good-unheard-{e}" for e in UNHEARD if unit == "call"}
    bad = bad_cut | {f"bad-unheard-{e}" for e in UNHEARD if unit == "call"}
    assert made("sft") == {("", id_) for id_ in good}
    assert made("kto") == {("True", id_) for id_ in good} | {("False", id_) for id_ in bad}
    assert made("reward") == {("", id_) for id_ in good | bad | good_cut}
    assert made("preference") == {("chosen", id_) for id_ in good} | {
        ("rejected", id_) for id_ in bad
    }
    everyone = {("", id_) for id_ in good | good_cut | {f"good-unheard-{e}" for e in UNHEARD}}
    assert made("sft", unfinished=True) == everyone


def test_a_session_is_in_one_split(store: Store, tmp_path: Path) -> None:
    """All its turns, and with it every session that has a prompt in common."""
    recorded = Recorded()
    for session in range(40):
        for number in range(3):
            question = "the same?" if number == 0 and session in (3, 17, 31) else f"{number}?"
            unique = "" if question == "the same?" else f" of {session}"
            recorded.turn(f"t{session}-{number}", question + unique, "A.", session=f"s{session}")
    insert(store, *recorded.rows)
    wanted = TrainingSet(kind="sft", format="trl", good=ANY, splits={"train": 0.6, "test": 0.4})
    export(store, tmp_path / "set", wanted)
    split_of: dict[str, set[str]] = {}
    for split in ("train", "test"):
        for line in lines(tmp_path / "set" / f"{split}.jsonl"):
            split_of.setdefault(line["source"]["session_id"], set()).add(split)

    assert {len(splits) for splits in split_of.values()} == {1}
    card = (tmp_path / "set" / "README.md").read_text("utf-8")
    assert "No session and no prompt is in two splits" in card
    checked = json.loads((tmp_path / "set" / "manifest.json").read_text("utf-8"))["splits_checked"]
    assert checked == {"prompts_and_sessions": 40 + 118, "in_two_splits": 0}
    assert len({*split_of["s3"], *split_of["s17"], *split_of["s31"]}) == 1
    assert {split for splits in split_of.values() for split in splits} == {"train", "test"}


@pytest.mark.parametrize("by", ["user", "lineage"])
def test_an_owner_is_in_one_split(store: Store, tmp_path: Path, by: Together) -> None:
    """All sessions of a user, or of a lineage, where that is asked for."""
    recorded = Recorded()
    for session in range(60):
        recorded.turn(f"t{session}", f"{session}?", "A.", session=f"s{session}")
    for row in recorded.rows:
        if isinstance(row, (LlmCall, TurnSummary)):
            owner = f"owner {int(row.session_id[1:]) % 12}"
            if isinstance(row, LlmCall):
                row.lineage_id = owner
            else:
                row.user_id = owner
    insert(store, *recorded.rows)
    splits = {"train": 0.5, "test": 0.5}
    both: tuple[tuple[Together, int], ...] = ((by, 0), ("session", 12))
    for together, apart in both:
        folder = tmp_path / together
        wanted = TrainingSet("sft", "trl", good=ANY, splits=splits, together=together)
        export(store, folder, wanted)
        owners = [
            {
                int(line["source"]["session_id"][1:]) % 12
                for line in lines(folder / f"{split}.jsonl")
            }
            for split in splits
        ]
        assert all(owners) and len(owners[0] & owners[1]) == apart
