"""Who may judge: `turnspan_reviewer` of deploy/ from everywhere, `turnspan_reader` from nowhere.
What could never land is refused before it is written."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from support.deployment import Deployment
from support.landing import insert
from support.pages import ServedPage, served
from support.story import TURN, Invoke, story
from turnspan_clickhouse.errors import MayNotInsertError
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.opening import open_store
from turnspan_console.mcp_server.answers import Cursor
from turnspan_console.mcp_server.questions import judging_as
from turnspan_records.judging.queues import Queue
from turnspan_records.judging.review import Review
from turnspan_records.quality.check_run import check_quality
from turnspan_records.quality.git import GitSource

OTHER = "e5" * 8
COMMANDS = {
    "annotate": ("annotate", TURN, "--outcome", "used"),
    "annotate --kind": ("annotate", TURN, "--score", "8", "--kind", "turn", "--project", "shop"),
    "prefer": ("prefer", TURN, OTHER),
    "rank": ("rank", OTHER, TURN),
    "withdraw": ("withdraw", TURN, "outcome", "--kind", "turn", "--project", "shop"),
    "review --save": ("review", "--save", "mine"),
}
GIVEN = {"project": "shop", "subject_kind": "turn", "subject_id": TURN, "kind": "outcome"}
REQUESTS: dict[str, dict[str, object]] = {
    "/api/review/judge": {"project": "shop", "turn": TURN, "id": "a" * 8, "outcome": "used"},
    "/api/review/undo": {},
    "/api/judge": {
        "subjects": [{"kind": "turn", "id": TURN, "project": "shop"}], "id": "b" * 8, "flag": 1,
    },
    "/api/judge/take-back": {"given": [{**GIVEN, "id": "a" * 8}]},
    "/api/compare/all-bad": {"ids": [TURN, OTHER], "id": "c" * 8},
    "/api/compare/order": {"groups": [[TURN], [OTHER]], "id": "d" * 8},
    "/api/lineage/steer": {
        "lineages": [{"project": "shop", "id": "l"}], "word": "locked", "id": "e" * 8,
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def recorded(deployment: Deployment) -> Deployment:
    """The server of deploy/ with a session to judge."""
    with open_store(deployment.dsn("admin")) as store:
        insert(store, *story())
    return deployment


@pytest.fixture
def spool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Spool:
    """Where whatever is judged waits to land."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    return Spool(tmp_path / "spool")


def address(deployment: Deployment, job: str) -> str:
    return str(deployment.dsn(job)).replace("@", f":{job}-secret@")


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_command_says_at_once_that_a_reader_may_not(
    invoke: Invoke, recorded: Deployment, spool: Spool, command: tuple[str, ...]
) -> None:
    """One sentence with who may, an exit code, and nothing that waits for ever. A reviewer may."""
    refused = invoke("--store", address(recorded, "reader"), *command)
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "turnspan_reviewer" in refused.stderr and "nothing was written" in refused.stderr
    assert not spool.names()

    taken = invoke("--store", address(recorded, "reviewer"), *command)
    assert (taken.exit_code, taken.stderr) == (0, "")
    assert not spool.names(), "it has landed"


@pytest.fixture(scope="module", params=["reader", "reviewer"])
def page(
    request: pytest.FixtureRequest, recorded: Deployment, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, ServedPage]]:
    """The page, served with a job's user."""
    job = str(request.param)
    with served(address(recorded, job), tmp_path_factory.mktemp("home")) as page:
        yield job, page


@pytest.mark.parametrize("path", REQUESTS)
def test_the_page_says_at_once_that_a_reader_may_not(
    page: tuple[str, ServedPage], path: str
) -> None:
    """403 with the sentence, of everything that is said there. A reviewer may."""
    job, served_page = page
    body = json.dumps({**REQUESTS[path], "by": "ada"}).encode()
    answer = served_page.ask(path, method="POST", body=body, content_type="application/json")
    if job == "reviewer":
        assert answer.status in (200, 400), answer.json()  # 400: not two answers to one prompt
        return
    assert answer.status == 403
    assert "turnspan_reviewer" in answer.json()["error"]


def review(store: Store, spool: Spool) -> None:
    queue = Queue("all", each=True)
    assert Review(lambda: nullcontext(store), spool, queue, "eve").next() is not None


def quality(store: Store, spool: Spool) -> None:
    folder = spool.folder.parent / "repository"
    if not folder.exists():
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        who = ("-c", "user.name=ada", "-c", "user.email=ada@example.org")
        first = ("commit", "-q", "--allow-empty", "-m", "first")
        subprocess.run(["git", *who, *first], check=True, cwd=folder)
    check_quality(lambda: nullcontext(store), spool, GitSource(folder))


def machine(store: Store, spool: Spool) -> None:
    judging_as("agent")(store, Cursor(0, 0), TURN, "used")
    assert not spool.names()


@pytest.mark.parametrize("way", [review, quality, machine])
def test_the_library_and_mcp_raise_for_a_reader(
    recorded: Deployment, spool: Spool, way: Callable[[Store, Spool], None]
) -> None:
    """Before anything is judged."""
    with open_store(recorded.dsn("reader")) as store, pytest.raises(MayNotInsertError):
        way(store, spool)
    assert not spool.names()
    with open_store(recorded.dsn("reviewer")) as store:
        way(store, spool)


def test_what_a_reviewer_says_is_read_by_all(
    invoke: Invoke, recorded: Deployment, spool: Spool
) -> None:
    """It has landed when the command returns; records themselves stay out of reach."""
    said = invoke("--store", address(recorded, "reviewer"), "annotate", OTHER, "--comment", "so")
    assert said.exit_code == 0
    rows = recorded.ask(
        "turnspan_reader", f"SELECT comment FROM turnspan.annotation WHERE subject_id = '{OTHER}'"
        " AND kind = 'comment'",
    )  # fmt: skip
    assert rows.text == "so\n"
    for table in ("llm_call", "turn_summary", "message", "tombstone", "schema_migration"):
        sql = f"INSERT INTO turnspan.{table} SELECT * FROM turnspan.{table} LIMIT 0"
        assert recorded.ask("turnspan_reviewer", sql).code == 497
