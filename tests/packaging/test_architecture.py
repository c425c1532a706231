"""docs/architecture.md says what is so: the files that a value passes."""

from __future__ import annotations

import json
import re
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

import turnspan
from support.shared import REPOSITORY
from turnspan.testing import ModelServer
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.cli import turnspan as command_line
from turnspan_console.web.app import make_app
from turnspan_console.web.reader import StoreReader

pytestmark = pytest.mark.with_schema

openai = pytest.importorskip("openai")

PAGE = (REPOSITORY / "docs" / "architecture.md").read_text("utf-8")
MORE = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8")
ROOTS = [
    REPOSITORY / "instrument" / "turnspan",
    REPOSITORY / "exporter" / "turnspan_clickhouse",
    REPOSITORY / "records" / "turnspan_records",
    REPOSITORY / "console" / "turnspan_console",
    REPOSITORY / "console" / "page" / "src",
]
FILE = re.compile(r"`([a-z_]+(?:/[a-z_]+)*\.(?:py|tsx?))`")
RECORDED = ["The messages of a request", "What a decorated agent returns", "The id of a session"]
READ = ["A tool row", "A judgment", "An export", "A question from the page"]
"""Those that one process passes from end to end; the others need a server of their own."""
ELSEWHERE = {"tracing/framework_sessions.py", "normalise/conversations.py"}
"""For calls without a session of the application's."""


def walks() -> dict[str, list[str]]:
    """The files of each walk, in order."""
    part = PAGE.partition("## What is passed, file by file")[2].partition("\n## ")[0]
    more = MORE.partition("## More walks")[2].partition("\n## ")[0]
    found: dict[str, list[str]] = {}
    for section in [*part.split("\n### ")[1:], *more.split("\n### ")[1:]]:
        title, _, table = section.partition("\n")
        rows = [row.split("|")[2] for row in table.splitlines() if row.startswith("|")]
        found[title] = [name for cell in rows for name in FILE.findall(cell)]
    return found


@pytest.mark.parametrize("title", walks())
def test_a_walk_names_files_that_exist_once_each(title: str) -> None:
    """Nothing is visited twice."""
    files = walks()[title]
    assert len(files) > 5
    assert len(files) == len(set(files))
    assert [name for name in files if not any((root / name).is_file() for root in ROOTS)] == []


@contextmanager
def visited() -> Generator[set[str]]:
    """The files of ours in which a function is called meanwhile, in any thread that begins."""
    found: set[str] = set()
    roots = tuple(f"{root}/" for root in ROOTS)

    def called(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(roots):
            root = next(root for root in roots if path.startswith(root))
            found.add(Path(path).relative_to(root).as_posix())

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@turnspan.tool
def stock(size: int) -> str:
    """How many there are."""
    return f"3 of {size}"


def test_what_is_recorded_and_read_passes_the_files_of_its_walk(
    embedded_dsn: Dsn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A decorated agent with a session, a tool, a model call and an image, until its rows are
    written; then it is judged, exported, and asked for by the page."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    monkeypatch.setenv("TURNSPAN_STORE", str(embedded_dsn))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    with ModelServer(default="Fine.") as server, visited() as files:
        turnspan.configure(exporters=["turnspan"], capture_media=True)
        turnspan.instrument()
        client = openai.OpenAI(api_key="k", base_url=f"{server.url}/v1")

        @turnspan.agent
        def answer(question: str) -> dict[str, str]:
            said = [{"role": "user", "content": [{"type": "text", "text": question}, image]}]
            reply = client.chat.completions.create(model="m", messages=said)
            return {"reply": str(reply.choices[0].message.content), "stock": stock(42)}

        with turnspan.session("s"):
            answer("How are you?")
        assert turnspan.flush().ok
        turnspan.shutdown()
        turnspan.uninstrument()
        known = walks()
        for title in RECORDED:
            assert set(known[title]) - ELSEWHERE - files == set(), title
        worker = known["A segment"][: known["A segment"].index("spool/insert_groups.py")]
        assert set(worker) - files == set()
        (turn,) = json.loads(command("turns", "--format", "json"))
        command("annotate", turn["turn_id"], "--outcome", "used")
        command("export", "sft", "--to", str(tmp_path / "set"))
        ask_the_page(embedded_dsn, turn)
    for title in READ:
        assert {name for name in known[title] if name.endswith(".py")} - files == set(), title


def command(*arguments: str) -> str:
    """What a command prints."""
    done = CliRunner().invoke(command_line, arguments)
    assert done.exit_code == 0, done.output
    return done.stdout


def ask_the_page(dsn: Dsn, turn: dict[str, str]) -> None:
    """Ask for the turns, the turn's session, and what was judged of it."""
    project, session, id_ = turn["project"], turn["session_id"], turn["turn_id"]
    app = make_app(StoreReader(dsn), tokens=["t"], port=4321)
    client: Any = TestClient(app, base_url="http://127.0.0.1:4321")  # its types are partly unknown
    with client as page:
        for path in (
            "/api/turns",
            f"/api/outline?project={project}&session={session}",
            f"/api/review/turn?project={project}&turn={id_}",
        ):
            answer = page.get(path, headers={"authorization": "Bearer t"})
            assert answer.status_code == 200, answer.text
