"""Who wrote each line, of generated repositories in which agents and people work."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.coding_repositories import Line, World
from support.kept_stores import migrated
from support.landing import insert
from support.rows import T0, call
from turnspan_clickhouse.rows.judgment_tables import Annotation, ArtifactCheckRow
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.cli import turnspan
from turnspan_records.coding.authorship.blame import RepositoryBlame
from turnspan_records.quality.git_command import Repository

pytestmark = [pytest.mark.both_kinds(False), pytest.mark.with_schema]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What is kept of repositories is that of the test."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def right(store: Store, world: World) -> tuple[Counter[str], Counter[str]]:
    """How many lines of each operation there are, and of how many the author is right."""
    blame = RepositoryBlame(store, world.folder, world.project)
    lines, good = Counter[str](), Counter[str]()
    for path, truth in world.files.items():
        for line, found in zip(truth, blame.lines(path), strict=True):
            author = found.edit.turn.turn_id if found.edit else found.commit.person
            lines[line.how] += 1
            good[line.how] += author == line.author
            if line.was and author == line.author:
                assert found.before is not None
                assert found.before.turn.turn_id == line.was, (path, found)
    return lines, good


def check(store: Store, worlds: Sequence[World]) -> None:
    for world in worlds:
        insert(store, *world.turns, *world.tools)
    lines, good = Counter[str](), Counter[str]()
    for world in worlds:
        made, found = right(store, world)
        lines += made
        good += found
    table = {how: f"{good[how]} of {lines[how]}" for how in sorted(lines)}
    assert good.total() >= 0.99 * lines.total(), table
    print(f"{good.total()} of {lines.total()} lines", table)


def test_lines_have_their_authors(store: Store, tmp_path: Path) -> None:
    """Edits, moves, renames, formatters, merges, rebases, squashes: 99 of 100 lines are right."""
    check(store, [World(tmp_path / f"p{seed}", seed, f"p{seed}").goes_on() for seed in range(5)])


@pytest.mark.release
def test_short_lines_of_little_files_have_their_authors(store: Store, tmp_path: Path) -> None:
    """Where the lines around a line say little: what agents left of the whole file tells."""
    check(store, [World(tmp_path / "little", 1, "little").little_files(60)])


@pytest.mark.release
def test_fifty_repositories(store: Store, tmp_path: Path) -> None:
    """As above, of fifty."""
    seeds = range(100, 150)
    check(store, [World(tmp_path / f"p{seed}", seed, f"p{seed}").goes_on() for seed in seeds])
    check(
        store,
        [World(tmp_path / f"l{seed}", seed, f"l{seed}").little_files(60) for seed in range(8)],
    )


@pytest.fixture
def world(tmp_path: Path) -> World:
    """A repository with two files of Ada's."""
    return World(tmp_path / "shop", 7, "shop")


def asked(store: Store, world: World, path: str) -> list[tuple[str, str]]:
    """Who wrote each line of a file, and by which evidence."""
    lines = RepositoryBlame(store, world.folder).lines(path)
    return [(o.edit.turn.turn_id if o.edit else o.commit.person, o.evidence) for o in lines]


def test_the_working_tree_and_other_folders(store: Store, world: World) -> None:
    """What is not committed has its author as well: of an agent in the folder, whether it is
    committed or not; an agent of another repository wrote nothing here, a line that says what its
    edit says or not."""
    world.away = False
    new = world.block("src/app.py", "t1", "")
    world.agent("src/app.py", [*world.files["src/app.py"], *new], "t1")
    world.later()
    same = {"file_path": "/other/src/app.py", "content": "".join(f"{o.text}\n" for o in new)}
    world.record([("Write", same)], "claude-code", "t2")
    world.turns[-1].attributes = {
        "process.working_directory": "/other",
        "vcs.repository.url.full": "https://example.org/team/other",
    }
    world.write()
    mine = world.folder / "src/app.py"
    mine.write_text(mine.read_text() + "def by_hand(one):\n    return one.two\n")
    insert(store, *world.turns, *world.tools)
    found = asked(store, world, "src/app.py")
    old = len(found) - len(new) - 2
    assert found[:old] == [("Ada", "")] * old
    assert found[old:-2] == [("t1", "text")] * len(new)
    assert found[-2:] == [("not committed", "")] * 2


def test_a_failed_edit_wrote_nothing(store: Store, world: World) -> None:
    """A person's line is not of an agent whose tool failed to write it, nor of a later edit."""
    text = {"file_path": "{folder}/new.py", "content": "total = prices.sum_of_all(orders)\n"}
    world.later()
    world.record([("Write", text)], "claude-code", "t1")
    world.tools[-1].failed = True
    world.files["new.py"] = [Line("total = prices.sum_of_all(orders)", "Bo", "")]
    world.commit("by hand", "Bo")
    world.later()
    world.record([("Write", text)], "claude-code", "t2")
    insert(store, *world.turns, *world.tools)
    assert asked(store, world, "new.py") == [("Bo", "")]


def test_a_known_repository_is_not_read_again(
    store: Store, world: World, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a repository only new commits are read, of all its branches; a file that was cut off is
    made anew, and what is kept is its user's alone."""
    insert(store, *world.turns, *world.tools)
    world.person_inserts()
    asked(store, world, "src/app.py")
    world.person_inserts()
    first = asked(store, world, "src/app.py")
    kept = sorted((own_cache / "turnspan/origins").iterdir())
    assert len(kept) == 2
    assert {one.stat().st_mode & 0o077 for one in (*kept, kept[0].parent)} == {0}
    world.git("checkout", "-q", "HEAD~2")  # before what is known
    short = asked(store, world, "src/app.py")
    assert len(short) <= len(first)
    world.git("checkout", "-q", "main")
    for one in (own_cache / "turnspan/origins").iterdir():
        one.write_bytes(one.read_bytes()[:50])
    assert asked(store, world, "src/app.py") == first
    with monkeypatch.context() as patched:
        patched.setattr(Repository, "lines", None)  # which reads commits
        assert asked(store, world, "src/app.py") == first


def test_what_a_line_cost(store: Store, world: World) -> None:
    """A line has its turn's cost without nested turns, the model of the call that asked for the
    tool, what the turn was judged as and what became of the file; one of an unknown cost has none.
    """
    world.agent("new.py", world.block("new.py", "t1", ""), "t1")
    world.agent("inner.py", world.block("inner.py", "t2", ""), "t2")
    world.agent("free.py", world.block("free.py", "t3", ""), "t3")
    outer, inner, free = world.turns
    outer.cost_usd, inner.cost_usd, free.cost_usd = Decimal("1.5"), Decimal("0.3"), None
    inner.parent_turn_id = "t1"
    outer.models = ["m-large", "m-small"]
    world.tools[0].round = 2
    world.commit("all", "Bo")
    judged = Annotation(
        project="shop", subject_kind="turn", subject_id="t1", kind="outcome", annotation_id="a1",
        outcome="modified", author="Bo", created_at=T0, written_at=T0,
    )  # fmt: skip
    checked = ArtifactCheckRow(
        project="shop", source="here", artifact_id="x", turn_id="t1", target="new.py",
        decision="used", checked_at=T0, written_at=T0,
    )  # fmt: skip
    calls = [
        call(name, round=number, response_model=name, project="shop", turn_id="t1")
        for number, name in ((1, "m-large"), (2, "m-small"))
    ]
    insert(store, *world.turns, *world.tools, *calls, judged, checked)
    blame = RepositoryBlame(store, world.folder, "shop")
    found = {path: blame.lines(path) for path in ("new.py", "inner.py", "free.py")}
    edits = {path: lines[0].edit for path, lines in found.items()}
    new = edits["new.py"]
    assert new is not None
    assert (new.model, new.turn.outcome) == ("m-small", "modified")
    assert blame.decisions(store, "new.py", found["new.py"]) == {"t1": "used"}
    costs = [blame.cost_of_line(one) for one in edits.values() if one]
    lines = [len(one.lasting()) for one in edits.values() if one]
    assert costs == [pytest.approx(1.2 / lines[0]), pytest.approx(0.3 / lines[1]), None]
    assert not any(one.edit for one in RepositoryBlame(store, world.folder, "b").lines("new.py"))


def called(*arguments: str) -> Result:
    return CliRunner().invoke(turnspan, arguments)


@pytest.mark.usefixtures("kept_engine")
def test_the_commands(
    embedded_dsn: Dsn, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``blame`` names lines, a range and the share of files, ``survival`` what stands; what is
    hidden in a text is shown, a wrong question is answered by a sentence."""
    monkeypatch.setenv("TURNSPAN_STORE", str(embedded_dsn))
    monkeypatch.chdir(world.folder)
    world.away = False
    world.agent("evil\x1b[31m.py", [Line("a_name = '\x1b[2J\u202e'  # of it", "t1", "")], "t1")
    world.turns[-1].user_message = "Clear\x1b[2J it"
    world.turns[-1].cost_usd = None
    world.agent("two.py", world.block("two.py", "t2", ""), "t2")
    world.agent("two.py", world.files["two.py"][:3], "t3")
    world.away = True  # a clone that is not on this machine, of a repository that is
    world.agent("three.py", world.block("three.py", "t4", ""), "t4")
    world.away = False
    del world.files["three.py"]
    world.commit("both", "Bo")
    world.files["two.py"][2:] = [Line("    result = by_hand_of_bo(1)", "Bo", "")]
    world.now += 3 * 86_400
    world.commit("by hand", "Bo")
    with migrated(embedded_dsn) as store:
        elsewhere = {"vcs.repository.url.full": "git@example.org:team/x.git"}
        for id_, folder in (("gone", "/gone/x"), ("here", "x\x1b[31m")):
            attributes = {**elsewhere, "process.working_directory": folder}
            gone = replace(world.turns[0], turn_id=id_, span_id=id_, attributes=attributes)
            tool = replace(world.tools[0], turn_id=id_, span_id=f"{id_}tool")
            insert(store, gone, tool)
        insert(store, *world.turns, *world.tools)

    evil = called("blame", "evil\x1b[31m.py")
    assert evil.exit_code == 0, evil.output
    assert "\x1b" not in evil.output
    assert "\u202e" not in evil.output
    assert "t1" in evil.output
    assert "Clear" in evil.output
    told: dict[str, Any] = json.loads(called("blame", "two.py:2-3", "--format", "json").output)
    first, second = told["lines"]
    assert (first["line"], first["author"], first["turn_id"]) == (2, "agent", "t2")
    assert (first["agent"], first["prompt"]) == (world.turns[1].agent_name, "Please do t2")
    assert first["cost_usd"] > 0
    assert (second["author"], second["person"]) == ("person", "Bo")
    assert list(first) == list(second)  # a program reads both alike
    agents = ("project", "session_id", "turn_id", "agent", "model", "tool", "call_id", "cost_usd")
    assert all(first[name] is not None for name in agents)
    assert all(second[name] is None for name in (*agents, "prompt", "outcome"))
    shares = json.loads(called("blame", "--format", "json").output)
    by_path = {one["path"]: one for one in shares["files"]}
    assert by_path["two.py"]["agents"] == 2
    assert by_path["evil\x1b[31m.py"]["cost_usd"] is None
    assert shares["agents"] == 3
    assert "two.py" in called("blame").output
    for wrong, code, said in (
        ("nothing.py", 1, "neither in HEAD nor in the folder"),
        ("two.py:9-4", 2, "counted from 1"),
        ("two.py:900", 1, "has no line 900"),
        ("/", 3, "git cannot be asked"),
    ):
        answer = called("blame", wrong)
        assert (answer.exit_code, said in answer.output) == (code, True), answer.output

    words = ("survival", "--by", "tool", "--format", "json")
    given = json.loads(called(*words, str(world.folder)).stdout)
    groups = given["groups"]
    monkeypatch.chdir(tmp_path)  # where there is none: the records name it, and others
    World(tmp_path / "x\x1b[31m", 8, "x")  # a folder of that name, but not the agent's
    every = json.loads(called(*words).stdout)
    left_out = {name: f"{name} is not a folder." for name in ("/gone/x", "x\x1b[31m")}
    assert every == {**given, "left_out": left_out}
    assert given["left_out"] == {}
    shown = called("survival")
    assert "2 folders of agents left out, no repository here: " in shown.stderr
    assert "/gone/x" in shown.stderr and "\x1b" not in shown.output
    assert called("survival", "/gone/x").exit_code == 3
    lines = sum(one["lines"] for one in groups)
    day, week, month, now = (
        [sum(one["after"][at][part] for one in groups) for part in ("lines", "standing")]
        for at in range(4)
    )
    assert day[0] == week[0] == month[0] == now[0] == lines
    assert (day[1], week[1], month[1], now[1]) == (4, 3, 3, 3)  # one by hand, after three days
    assert sum(one["turns_without_cost"] for one in groups) == 1
    assert "1 day" in called("survival", str(world.folder)).output
    assert called("survival", "--project", "nothing").exit_code == 1


@pytest.mark.release
def test_a_large_repository(store: Store, tmp_path: Path) -> None:
    """100,000 lines, most of them agents', take less than ten seconds after the first run."""
    world = World(tmp_path / "large", 1, "large")
    for number in range(100):
        path, id_ = f"src/part{number}.py", f"t{number}"
        blocks = [world.block(path, id_, "") for _ in range(140)]
        world.agent(path, [one for block in blocks for one in block], id_)
        if number % 2:
            world.person_inserts()
    world.commit("last")
    insert(store, *world.turns, *world.tools)
    RepositoryBlame(store, world.folder)
    start = time.process_time()
    shares = [*RepositoryBlame(store, world.folder).shares()]
    seconds = time.process_time() - start
    assert sum(one.lines for one in shares) > 100_000
    assert sum(one.agents for one in shares) > 99_000
    assert seconds < 10
    print(f"{seconds:.1f} s")
