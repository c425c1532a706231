"""Sessions in short, and the pages made of them: the same again, and nothing recorded is markup."""

from __future__ import annotations

import html
import json
import os
import re
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from support.kept_stores import migrated
from support.landing import insert
from support.mediawiki import BOT_PASSWORD, RealWiki
from support.rows import PROJECT, T0, turn
from support.training import Recorded
from turnspan_clickhouse.rows.loop_tables import ArtifactRow
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.cli import turnspan
from turnspan_console.panels.summary_pages import json_line, markdown, wikitext
from turnspan_records import Window
from turnspan_records.access.whole_folders import page_name
from turnspan_records.keeping import summaries as module
from turnspan_records.keeping.summaries import Sessions, SessionSummary, number_of, summaries

HOSTILE = (
    "| '''x''' [[File:a.png]] {{Main}} ~~~~ <b> http://a.example __TOC__ `x` ![i](u) \x1b[31m\n|-"
)
HOUR = 3_600
BEGAN = datetime(2026, 9, 21, 14, 13, 20, tzinfo=timezone.utc)


def fill(store: Store) -> None:
    """Five sessions of two projects; one with nested turns, judgments and what was written."""
    judged = Recorded()
    judged.judge("t1", "outcome", outcome="rejected")
    judged.judge("t1", "outcome", outcome="used")
    judged.judge("t1", "score", score=8.0)
    judged.judge("t2", "training_flag", training_flag=-1)
    judged.judge("desk", "outcome", subject="session", outcome="modified")
    judged.judge("desk", "outcome", subject="turn", outcome="rejected")  # of no turn of this name
    known: dict[str, Any] = {"session_id": "desk", "user_id": "ada", "agent_name": "clerk"}
    insert(
        store,
        turn("t1", 0, **known, user_message="Size 42?", llm_call_count=3, tool_call_count=2,
             tool_error_count=1, input_tokens=1200, output_tokens=30, duration=2.5,
             cost_usd=Decimal("0.0125"), models=["gpt-4o"]),
        turn("t1a", 1, **known, parent_turn_id="t1", llm_call_count=1, user_message="inner"),
        turn("t2", HOUR, **known, user_message=HOSTILE, stop_reason="error",
             error_type="TimeoutError", duration=60.0),
        *(turn(f"o{n}", n, session_id=f"other-{n}", project="b") for n in range(3)),
        turn("alone", 5, session_id="", user_message="of no session"),
        turn("inner", 6, session_id="below", parent_turn_id="elsewhere", user_message="Nested?"),
        *(ArtifactRow(project=PROJECT, target=target, artifact_id=target, session_id="desk",
                   created_at=T0, written_at=T0) for target in ("Talk:Oslo", "Oslo", "a|b")),
        *judged.rows,
    )  # fmt: skip


@pytest.fixture(scope="module")
def store(module_store: Store) -> Store:
    fill(module_store)
    return module_store


def desk(store: Store) -> SessionSummary:
    (found,) = summaries(store, Sessions(ids=("desk",)))
    return found


def test_a_session_in_short(store: Store) -> None:
    """Who, how each turn ended, what it took, what was judged and written; nested turns are in the
    turns that began them."""
    session = desk(store)
    first, second = session.turns
    assert (session.users, session.agents, session.models) == (["ada"], ["clerk"], ["gpt-4o"])
    assert (session.began, session.ended) == (BEGAN, BEGAN + timedelta(seconds=HOUR + 60))
    assert (session.nested, session.calls, session.tools, session.tool_errors) == (1, 3, 2, 1)
    assert (session.input_tokens, session.cost_usd) == (1200, Decimal("0.0125"))
    assert (first.verdict.outcome, first.verdict.score) == ("used", 8.0)
    assert (second.verdict.training_flag, second.ended) == (-1, "error")
    assert session.verdict.outcome == "modified"
    assert session.targets == ["Oslo", "Talk:Oslo", "a|b"]


def test_every_session_once_some_at_a_time(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one order, whatever is read at once; a turn without a session is in none."""
    at_once = list(summaries(store))
    monkeypatch.setattr(module, "SESSIONS", 2)
    assert list(summaries(store)) == at_once
    assert [(one.project, one.session_id) for one in at_once] == [
        *(("b", f"other-{n}") for n in range(3)),
        (PROJECT, "below"),
        (PROJECT, "desk"),
    ]
    assert number_of(store, Sessions()) == 5
    assert [turn.asked for turn in at_once[3].turns] == ["Nested?"]


def test_a_window_says_which_sessions_not_which_turns(store: Store) -> None:
    """A page made of the last hour is the page made of everything."""
    late = Sessions(window=Window(BEGAN + timedelta(minutes=30)))
    (found,) = summaries(store, late)
    assert (found, number_of(store, late)) == (desk(store), 1)
    assert [one.session_id for one in summaries(store, Sessions(project="b"))] == [
        f"other-{n}" for n in range(3)
    ]


def test_what_was_recorded_is_no_markup(store: Store) -> None:
    """Neither a table's border nor a link, a picture, a template, a signature, a control sign."""
    session = desk(store)
    row = next(line for line in markdown(session).splitlines() if "TimeoutError" in line)
    assert len(re.findall(r"(?<!\\)\|", row)) == 12
    assert not re.search(r"(?<!\\)[<`*]|(?<!\\)!\[|\x1b", row)

    page = wikitext(session)
    cell = next(line for line in page.splitlines() if "x" in line and "png" in line)
    assert not re.search(r"[\[\]{}'~<>_|\x1b]|://", cell.removeprefix("| "))
    assert "[[:Talk:Oslo]]" in page
    assert "[[:a|b]]" not in page

    told = json.loads(json_line(session))
    assert told["turns"][1]["asked"] == HOSTILE
    assert "\x1b" not in json_line(session)


def test_names_of_pages_are_apart(tmp_path: Path) -> None:
    """Also where letters' case, blanks or signs make no difference, and none leaves its folder."""
    ids = ["a", "A", "a b", "a_b", "a/b", "..", ".", "", "a.", "con|x", "ä", "A" * 300, "a" * 300]
    names = [page_name(one) for one in ids]
    assert len({name.lower().replace("_", " ") for name in names}) == len(ids)
    assert all(re.fullmatch(r"[\w-][\w.-]*", name) and len(name) <= 110 for name in names)
    assert all((tmp_path / name).parent == tmp_path for name in names)


@pytest.mark.usefixtures("kept_engine")
def test_again_to_the_same_result(tmp_path: Path) -> None:
    """Files that have not changed are left alone, and a page outlives its session."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(dsn) as made:
        fill(made)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(turnspan, ["--store", str(dsn), "summaries", *arguments])
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout

    folder = tmp_path / "logs"
    assert run("--to", f"{folder}{os.sep}").startswith("5 pages written, 0 unchanged")
    page = folder / PROJECT / "desk.md"
    before = page.stat().st_mtime_ns
    gone = folder / PROJECT / "gone.md"
    gone.write_text("of a session that is no longer there")
    assert run("--to", str(folder)).startswith("0 pages written, 5 unchanged")
    assert (page.stat().st_mtime_ns, gone.exists()) == (before, True)

    for suffix, arguments in (("md", ()), ("jsonl", ("--format", "jsonl"))):
        file = tmp_path / f"all.{suffix}"
        assert run("--to", str(file), *arguments).startswith("5 pages in ")
        text = file.read_text("utf-8")
        assert run(*arguments) == text
    assert [json.loads(line)["session_id"] for line in text.splitlines()][-1] == "desk"
    assert not list(tmp_path.glob(".*"))


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    """A sentence, and nothing half-written beside it."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(dsn) as made:
        fill(made)
    (tmp_path / "file").write_text("in the way")
    arguments = ["--store", str(dsn), "summaries", "--to", str(tmp_path / "file" / "all.md")]
    result = CliRunner().invoke(turnspan, arguments)
    assert result.exit_code == 3
    assert "all.md cannot be written: " in result.stderr


@pytest.mark.release
def test_into_a_real_wiki(
    real_wiki: RealWiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page a session, again without a new revision; what was recorded is text there, too."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(dsn) as made:
        fill(made)
        page_of_desk = wikitext(desk(made))
    monkeypatch.setenv("TURNSPAN_MEDIAWIKI_USER", "Agent@trial")
    monkeypatch.setenv("TURNSPAN_MEDIAWIKI_PASSWORD", BOT_PASSWORD)

    def run() -> str:
        arguments = ["--store", str(dsn), "summaries", "--mediawiki", real_wiki.api]
        result = CliRunner().invoke(turnspan, arguments)
        assert (result.exit_code, result.stderr) == (0, "")
        return result.stdout

    assert run().startswith("5 pages written, 0 unchanged")
    title = f"Logs:{PROJECT}/desk"
    written = real_wiki.by("Ada").page(title)
    assert written is not None
    assert written.text == page_of_desk.strip()
    assert run().startswith("0 pages written, 5 unchanged")
    again = real_wiki.by("Ada").page(title)
    assert again is not None and again.revision == written.revision

    shown = real_wiki.by("Ada").ask(
        action="parse", page=title, prop=["text", "templates", "images", "externallinks", "links"]
    )["parse"]
    assert [shown["templates"], shown["images"], shown["externallinks"]] == [[], [], []]
    assert {link["title"] for link in shown["links"]} == {"Oslo", "Talk:Oslo"}
    assert "<b> http" not in shown["text"]
    assert "<b> http" in html.unescape(shown["text"])
