"""The door for importers and commands of other distributions: the example of docs/imports.md, one
that cannot be loaded, one that takes a name of ours."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from support.kept_stores import copy_schema
from support.shared import REPOSITORY
from support.story import ENTRY, Spawn
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

PAGE = (REPOSITORY / "docs" / "imports.md").read_text("utf-8").partition("## An importer of")[2]
NOTES = 120
KILLED = f"""
import os, signal
from turnspan_records.importing import import_run
remember, import_run._ROWS_TOGETHER = import_run._Writer._remember, 50
def killed(self, position):
    remember(self, position)
    if self._report.source_rows > 40:
        os.kill(os.getpid(), signal.SIGKILL)
import_run._Writer._remember = killed
{ENTRY}
"""
"""The command, killed when it has remembered a position."""


def block(language: str) -> str:
    """The page's code in a language."""
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that distributions are installed in, seen by the processes that are spawned."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(folder))
    return folder


def install(site: Path, name: str, *points: str, module: str = "") -> None:
    """Install a distribution with lines of ``entry_points.txt`` and a module, both of its name."""
    about = site / f"{name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("\n".join(points) + "\n")
    (site / f"{name}.py").write_text(module)


def rows(store: Path) -> dict[str, Any]:
    """What a store holds."""
    with open_store(Dsn(scheme="chdb", path=store)) as opened:
        return {
            table: opened.query(
                f"SELECT * EXCEPT (written_at, {more}) FROM {table} FINAL ORDER BY ALL"
            ).rows
            for table, more in (
                ("llm_call", "writer"),
                ("turn_summary", "writer"),
                ("span", "writer"),
                ("message", "first_seen"),
            )
        }


@pytest.mark.release
def test_the_example_of_the_page(spawn: Spawn, site: Path, tmp_path: Path) -> None:
    """At most 40 lines; killed, it goes on where it was, to the same rows as at once, and nothing
    is there twice."""
    assert len(block("python").splitlines()) <= 40
    table, point = block("toml").splitlines()
    group = table.removeprefix('[project.entry-points."').removesuffix('"]')
    install(site, "chat_notes", f"[{group}]", point.replace('"', ""), module=block("python"))
    notes = tmp_path / "notes.jsonl"
    lines = [
        {"time": 1_760_000_000 + n, "model": "m", "user": f"ask {n}", "assistant": f"say {n}"}
        for n in range(NOTES)
    ]
    notes.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    for name in ("whole", "killed"):
        copy_schema(tmp_path / name)

    def imported(store: str, *options: str) -> dict[str, Any]:
        arguments = ("--store", f"chdb://{tmp_path / store}", "--format", "json", *options)
        done = spawn("import", "chat-notes", str(notes), *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return dict(json.loads(done.stdout))

    assert imported("whole")["source_rows"] == NOTES
    expected = rows(tmp_path / "whole")
    assert len(expected["llm_call"]) == NOTES
    assert "chat-notes" in expected["llm_call"][0]

    killed = ("--store", f"chdb://{tmp_path / 'killed'}")
    assert spawn("import", "chat-notes", str(notes), *killed, entry=KILLED).returncode == (
        -signal.SIGKILL
    )
    rest = imported("killed")
    assert rest["resumed"] and 0 < rest["source_rows"] < NOTES
    assert rest["seen"] == [
        {"source": "lines", "became": "model calls", "rows": rest["source_rows"]}
    ]
    assert rows(tmp_path / "killed") == expected
    assert imported("killed")["source_rows"] == 0
    assert imported("killed", "--again")["source_rows"] == NOTES
    assert rows(tmp_path / "killed") == expected


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit('stop\\nnow')", "SystemExit: stop now"),
        pytest.param("command = 1", "TypeError: it is no click.Command", marks=pytest.mark.release),
        pytest.param(
            "import click\ncommand = click.Command('x')",
            "TypeError: its command has no function",
            marks=pytest.mark.release,
        ),
        ("", "has no attribute 'command'"),
    ],
)
def test_one_that_cannot_be_loaded_leaves_the_others(
    spawn: Spawn, site: Path, module: str, reason: str
) -> None:
    """It is listed, and says in one line what is wrong with which distribution."""
    install(site, "damaged", "[turnspan.importers]", "odd = damaged:command", module=module)
    listed = spawn("import", "--help")
    assert listed.returncode == 0
    assert "Cannot be loaded: update or uninstall damaged." in listed.stdout
    assert "Import Arize Phoenix's exports." in listed.stdout
    assert spawn("import", "phoenix", "--help").returncode == 0
    for more in ((), ("file", "--project", "p"), ("--help",)):
        refused = spawn("import", "odd", *more)
        assert (refused.returncode, refused.stdout) == (2, "")
        (line,) = refused.stderr.splitlines()
        assert line.startswith("turnspan: damaged adds this command, which cannot be loaded from")
        assert reason in line


def test_commands_of_others(spawn: Spawn, site: Path) -> None:
    """Beside ours and below one of them; none takes the name of ours."""
    install(
        site,
        "more",
        *("[turnspan.commands]", "greet = more:command", "consortium.greet = more:command"),
        *("sql = more:command", "consortium.group = more:command"),
        *("[turnspan.importers]", "llm = more:command"),
        module="import click\n\n@click.command()\ndef command() -> None:\n"
        '    """Say hello."""\n    click.echo("hello")\n',
    )
    shown = spawn("--help").stdout
    assert re.search(r"^  greet +Say hello\.$", shown.partition("More:")[2], re.MULTILINE)
    assert "consortium.greet" not in shown
    assert spawn("greet").stdout == spawn("consortium", "greet").stdout == "hello\n"
    for ours in (("sql",), ("consortium", "group"), ("import", "llm")):
        assert "Say hello" not in spawn(*ours, "--help").stdout
