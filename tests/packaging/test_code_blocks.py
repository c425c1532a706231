"""Every block of code of the README and of the guide runs as it stands, or says why not.

Python runs in the order of a page, with what the page's reader has; each line that begins with
``turnspan`` is read by that command, and is run where it only reads.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from support.clickhouse_server import ClickHouseServer
from support.command_lines import require_typed, words_of
from support.shared import REPOSITORY
from support.story import TURN, fill
from turnspan.testing import ModelServer
from turnspan_console.cli import turnspan

TOML: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
PAGES = (
    "README.md",
    "examples/README.md",
    "docs/*.md",
    "docs/api/*.md",
    "docs/migration/*.md",
    "docs/again/*.md",
    "docs/coding/*.md",
)

PROVED_BY = {
    "README.md: import json": "tests/console/test_readme.py",
    "docs/context.md: import turnspan": "tests/emit/test_docs.py",
    "docs/context.md: import multiprocessing": "tests/emit/test_docs.py",
    "docs/context.md: import json": "tests/emit/test_docs.py",
    "docs/context-assembly.md: import turnspan": "tests/land/test_contexts.py",
    "docs/imports.md: import json": "tests/console/test_importers.py",
    "docs/testing.md: import openai": "tests/testing/test_page.py",
    "docs/testing.md: import turnspan": "tests/testing/test_page.py",
}
"""Blocks of Python that a test of their own runs, with what they print or record."""

NOT_RUN = {
    "docs/again/judges.md: import turnspan_records": "reads a judge's file of the reader's own",
    "docs/configuration.md: judge = turnspan.Recorder()": "`...` stands for the reader's arguments",
    "docs/migration/phoenix.md: from phoenix.client import Client": "asks Phoenix's server",
}
"""Blocks of Python that cannot run here, with the reason; they are compiled."""

A_TURN = """
import turnspan
turnspan.configure(service_name="docs")
turns = []
for _ in range(7):
    with turnspan.agent("docs") as turn:
        turns.append(turn.id)
turnspan.flush()
turn_id, better_turn, worse_turn, first, second, third, fourth = turns
"""
BEFORE = {
    "README.md": A_TURN,
    "docs/judging.md": A_TURN,
    "docs/quality.md": 'import turnspan\ntext, source, commit = "A lamp.", "print(1)\\n", "abc"',
    "docs/privacy.md": "import turnspan",
    "docs/reliability-processes.md": "import turnspan",
    "docs/improving.md": "import turnspan_records",
    "docs/instrumentation.md": """
from types import SimpleNamespace
messages = [{"role": "user", "content": "Hi"}]
my_llm = lambda asked: SimpleNamespace(text="Hello.", prompt=3, output=2)
""",
}
"""What the reader of a page has before its first block: a name that the page speaks of."""
IN_A_TURN = ("README.md", "docs/judging.md", "docs/quality.md")
"""Pages whose blocks stand inside an agent's function."""

ONLY_READ = {
    "console": "serves until it is ended",
    "receive": "serves until it is ended",
    "mcp": "serves until it is ended",
    "demo": "tests/demo runs it",
    "import": "reads files and databases of the reader's own",
    "rerun": "tests/rerun runs it",
    "review": "waits for keys",
    "quality": "asks a wiki, or reads the reader's repository",
    "blame": "reads the reader's repository",
    "survival": "reads the reader's repository",
    "forget": "deletes the reader's records",
    "retain": "deletes the reader's records",
    "annotate": "judges a record of the reader's own",
    "watch": "waits, and asks again",
    "hooks": "changes the settings of the reader's coding agents",
    "gate": "names versions of the reader's own",
    "dataset": "makes a set of the reader's own turns and files",
    "experiment": "runs the reader's own agent",
    "judge": "asks a model, by a file of the reader's own",
    "export": "judgments of the reader's own decide what it writes",
    "init": "tests/console/test_init.py runs it",
    "consortium": "names a run, or a log of the reader's own",
    "migrate": "tests/deploy runs it",
    "sql": "tests/records/test_sandbox_reading.py runs the statements",
}
"""Commands whose lines are read and not run, with the reason."""

DRIVER = """
import json, sys, traceback
import turnspan
failed = {}
for page, before, inside, blocks in json.load(sys.stdin):
    names = {"__name__": "__main__"}
    for key, code in [("before", before), *blocks]:
        try:
            if inside and key != "before":
                with turnspan.agent("docs"):
                    exec(compile(code, key, "exec"), names)
            else:
                exec(compile(code, key, "exec"), names)
        except BaseException:
            failed[f"{page}: {key}"] = traceback.format_exc()
        turnspan.flush()
    turnspan.shutdown()
    turnspan.uninstrument()
print("failed:" + json.dumps(failed))
"""


@dataclass(frozen=True)
class Block:
    """A block of code of a page."""

    page: str
    language: str
    code: str

    @property
    def key(self) -> str:
        """By which the lists above name it: its page and first line."""
        return f"{self.page}: {self.code.strip().splitlines()[0]}"

    def lines(self) -> list[str]:
        """What is typed into a shell, without prompts, variables and comments; a line that goes on
        is one."""
        text = re.sub(r"\\\n\s+|\n    (?=\S)", " ", self.code)
        if self.language != "sh":
            text = "\n".join(one[2:] for one in text.splitlines() if one.startswith("$ "))
        return [re.sub(r"\s+# .*|^(?:\w+=\S+\s+)+", "", one) for one in text.splitlines()]


def blocks() -> Iterator[Block]:
    for pattern in PAGES:
        for path in sorted(REPOSITORY.glob(pattern)):
            page = path.relative_to(REPOSITORY).as_posix()
            for language, code in re.findall(
                r"^```(\w*)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S
            ):
                yield Block(page, language, code)


BLOCKS = [*blocks()]
LINES = sorted(
    {
        line
        for block in BLOCKS
        if block.language in ("console", "sh")
        for whole in block.lines()
        for line in re.findall(r"(?:^|&& |-- )turnspan (.+)", whole)
    }
)


def test_the_python_of_every_page_runs(clickhouse_server: ClickHouseServer, tmp_path: Path) -> None:
    """Page by page, in one process, into a store with records; models are asked on this machine."""
    dsn = clickhouse_server.dsn("code-blocks")
    fill(dsn)
    python = [one for one in BLOCKS if one.language == "python"]
    known = {*PROVED_BY, *NOT_RUN}
    work: list[tuple[str, str, bool, list[tuple[str, str]]]] = []
    for page in dict.fromkeys(one.page for one in python):
        own = [(one.key, one.code) for one in python if one.page == page and one.key not in known]
        work.append((page, BEFORE.get(page, ""), page in IN_A_TURN, own))
    with ModelServer("Hello.") as server:
        ran = subprocess.run(
            [sys.executable, "-c", DRIVER],
            input=json.dumps(work),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            cwd=tmp_path,
            env={
                **{k: v for k, v in os.environ.items() if not k.startswith(("TURNSPAN_", "OTEL_"))},
                "TURNSPAN_STORE": str(dsn),
                "XDG_DATA_HOME": str(tmp_path / "data"),
                "OPENAI_BASE_URL": f"{server.url}/v1",
                "OPENAI_API_KEY": "none",
            },
        )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.rpartition("failed:")[2]) == {}


@pytest.fixture(scope="module")
def filled(clickhouse_server: ClickHouseServer) -> str:
    """The address of a store with records."""
    dsn = clickhouse_server.dsn("code-block-commands")
    fill(dsn)
    return str(dsn)


@pytest.mark.parametrize("line", LINES)
def test_a_command_of_a_page_can_be_typed(
    line: str, filled: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the options and arguments that the page gives it; one that only reads ends well."""
    shown = re.sub(r"\bTURN\b", TURN, line)
    require_typed(shown)
    command = words_of(shown)[0]
    if command in ONLY_READ:
        return
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    ended = CliRunner().invoke(turnspan, ["--store", filled, *words_of(shown)])
    assert ended.exit_code in (0, 1), ended.output  # 1: a finding, or nothing found


def test_other_languages_can_be_read() -> None:
    """JSON, YAML and TOML by their parsers, Python by the compiler."""
    readers: dict[str, Callable[[str], object]] = {
        "json": json.loads,
        "yaml": yaml.safe_load,
        "toml": TOML.loads,
        "python": ast.parse,
    }
    for block in BLOCKS:
        if block.language in readers:
            readers[block.language](block.code)


def test_no_reason_outlives_its_block() -> None:
    """Each key of the lists is a block or a command of a page, and each test that is named is there
    and speaks of the page."""
    keys = {one.key for one in BLOCKS}
    assert {*PROVED_BY, *NOT_RUN} <= keys
    assert {*BEFORE, *IN_A_TURN} <= {one.page for one in BLOCKS if one.language == "python"}
    assert ONLY_READ.keys() <= {words_of(line)[0] for line in LINES}
    for key, test in PROVED_BY.items():
        name = Path(key.partition(":")[0]).name
        assert name in (REPOSITORY / test).read_text(encoding="utf-8"), (key, test)
    languages = {one.language for one in BLOCKS}
    told = {"python", "console", "sh", "json", "yaml", "toml", "sql", "text", "ts", ""}
    assert languages <= told, "say here how blocks of a new language are tried"
