"""The recipes of CONTRIBUTING.md work as they stand there: each is applied to a copy of the
sources, which is then used."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from support.shared import REPOSITORY
from support.story import ENTRY

PAGE = (REPOSITORY / "CONTRIBUTING.md").read_text("utf-8").partition("\n## Recipes\n")[2]
ROOTS = ("instrument", "exporter", "records", "llm", "console", "examples")
OTHERS = (
    *("pyproject.toml", "hatch_build.py", "Makefile", "README.md", "CHANGELOG.md"),
    *("docs/reference", ".ci", "tests/clients/methods.json"),
)
STEP = re.compile(r"^(New file|Change) `(.+?)`.*?\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SNAPSHOTS = "tests/snapshots"
"""Take minutes to write: not tried here."""

AGENT = """
import turnspan
turnspan.configure()

@turnspan.agent
def shop(question):
    turnspan.current_turn().set(tenant="acme")
    return "Yes."

with turnspan.session("s"):
    shop("Is it there?")
assert turnspan.flush().ok
turnspan.shutdown()
"""
TURNS = """
import os, sys
from starlette.testclient import TestClient
from turnspan_clickhouse.store.dsn import parse
from turnspan_console.web.app import make_app
from turnspan_console.web.reader import StoreReader

app = make_app(StoreReader(parse(os.environ["TURNSPAN_STORE"])), tokens=["t"], port=4321)
with TestClient(app, base_url="http://127.0.0.1:4321") as client:
    answer = client.get("/api/turns", headers={"authorization": "Bearer t"})
assert answer.status_code == 200, answer.text
sys.stdout.write(answer.text)
"""


@dataclass(frozen=True)
class Recipe:
    """A section of the page."""

    text: str

    @classmethod
    def of(cls, title: str) -> Recipe:
        """The recipe under a heading."""
        return cls(PAGE.partition(f"\n### {title}\n")[2].partition("\n#")[0])

    @cached_property
    def steps(self) -> dict[str, tuple[str, str]]:
        """By file: whether it is a new one, and its text or its differences."""
        return {path: (what, body) for what, path, body in STEP.findall(self.text)}

    @cached_property
    def generated(self) -> dict[str, str]:
        """The target of ``make`` that writes a file or folder, by its path, but the snapshots."""
        named = self.text.partition("\nGenerated: ")[2]
        found: dict[str, str] = {}
        for paths, target in re.findall(r"([^()]*)\(`make (\w+)`\)", named):
            found |= dict.fromkeys(re.findall(r"`(.+?)`", paths), target)
        found.pop(SNAPSHOTS, None)
        return found


@dataclass(frozen=True)
class Sources:
    """A copy of the sources, and a store that its programs use."""

    folder: Path
    environment: dict[str, str]

    def run(self, *command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        """Run a program in the copy; ``code`` is what it must exit with."""
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=200,
            check=False,
        )
        assert done.returncode == code, (command, done.stdout, done.stderr)
        return done

    def python(self, program: str, *arguments: str) -> str:
        """What a Python program prints."""
        return self.run(sys.executable, "-c", program, *arguments).stdout

    def turnspan(self, *arguments: str, code: int = 0) -> Any:
        """What a command answers."""
        command = (sys.executable, "-c", ENTRY, *arguments, "--format", "json")
        return json.loads(self.run(*command, code=code).stdout)

    def apply(self, recipe: Recipe) -> None:
        """Do what the recipe says and run the targets that it names; nothing but what it names may
        change, and ruff finds nothing to say about it."""
        written: list[str] = []
        for path, (what, body) in recipe.steps.items():
            if "NNNN" in path:
                files = (self.folder / path).parent.glob("[0-9]*.sql")
                number = max(int(file.name[:4]) for file in files) + 1
                path = path.replace("NNNN", f"{number:04d}")
            target = self.folder / path
            target.write_text(after_step(target, what, body), "utf-8")
            written.append(path)
        if "pyproject.toml" in written:
            install(self)
        done = ("setup", "console/page/node_modules/.ready", ".tools/sdks/.ready")
        before = (*(word for name in done for word in ("-o", name)), f"VENV={sys.prefix}")
        for name in dict.fromkeys(recipe.generated.values()):
            self.run("make", *before, name)
        expected = {*written, *recipe.generated}
        assert {named(path, expected) for path in differences(self.folder)} == expected
        python = [path for path in written if path.endswith(".py")]
        if python:
            self.run("ruff", "check", "--quiet", *python)
            self.run("ruff", "format", "--check", "--quiet", *python)


def after_step(target: Path, what: str, body: str) -> str:
    """What a file holds after a step; one to change is there, and a new one is not."""
    assert target.exists() == (what == "Change"), target
    return changed(target.read_text("utf-8"), body) if what == "Change" else body


def changed(text: str, differences: str) -> str:
    """A text with differences: each, under ``@@`` and a text that stands before it once, has lines
    that are there and lines to add."""
    for one in differences.split("@@ ")[1:]:
        anchor, _, lines = one.partition("\n")
        new = [line[1:] for line in lines.splitlines(keepends=True)]
        old = [line[1:] for line in lines.splitlines(keepends=True) if line.startswith(" ")]
        before, found, after = text.partition(anchor)
        assert found and "".join(old) in after, one
        text = before + found + after.replace("".join(old), "".join(new), 1)
    return text


def install(sources: Sources) -> None:
    """Install the copy as ``make setup`` does, so that its entry points are known."""
    sources.python("import hatch_build; hatch_build.build_wheel('built')")
    (wheel,) = (sources.folder / "built").glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(sources.folder / "site")


def differences(folder: Path) -> set[str]:
    """The files of the copy that are others than in the repository."""
    found: set[str] = set()
    for root in (*ROOTS, *OTHERS):
        for path in (folder / root, *(folder / root).rglob("*")):
            name = path.relative_to(folder)
            ours = path.is_file() and not {"node_modules", "__pycache__"} & {*name.parts}
            if ours and not is_same(path, REPOSITORY / name):
                found.add(name.as_posix())
    return found


def is_same(path: Path, other: Path) -> bool:
    """Whether two files have the same bytes."""
    return other.is_file() and path.read_bytes() == other.read_bytes()


def named(path: str, names: set[str]) -> str:
    """The name in a recipe under which a file falls: its own, or its folder's."""
    return next((name for name in names if path == name or path.startswith(f"{name}/")), path)


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    """A copy of the repository's sources that no recipe has changed."""
    folder = tmp_path / "turnspan"
    without = shutil.ignore_patterns("node_modules")
    for name in (*ROOTS, *OTHERS):
        source, target = REPOSITORY / name, folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=without)
        else:
            shutil.copy2(source, target)
    for name in ("console/page/node_modules", ".tools/sdks"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).symlink_to(REPOSITORY / name)
    kept = {n: v for n, v in os.environ.items() if not n.startswith(("TURNSPAN_", "OTEL_"))}
    python_path = [str(folder), *(str(folder / root) for root in ROOTS), str(folder / "site")]
    environment = {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept['PATH']}",
        "PYTHONPATH": os.pathsep.join(python_path),
        "TURNSPAN_COMPILE": "0",
        "TURNSPAN_STORE": f"chdb://{tmp_path / 'store'}",
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    made = Sources(folder, environment)
    used = made.python("import turnspan_records as r; print(r.__file__)")
    assert Path(used.strip()).is_relative_to(folder)
    return made


@pytest.mark.parametrize("title", re.findall(r"^### (Add .+)$", PAGE, re.MULTILINE))
def test_a_recipe_fits_the_files_that_it_changes(tmp_path: Path, title: str) -> None:
    """Its lines are where it says, and stand as ruff would have them."""
    ruff = Path(sys.executable).with_name("ruff")
    for path, (what, body) in Recipe.of(title).steps.items():
        text = after_step(REPOSITORY / path, what, body)
        (tmp_path / Path(path).name).write_text(text, "utf-8")
    done = subprocess.run([ruff, "format", "--check", tmp_path], capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.release
def test_a_diagnostic_takes_one_file(sources: Sources) -> None:
    """It answers about a recorded turn, and is listed."""
    recipe = Recipe.of("Add a diagnostic")
    assert len(recipe.steps) == 1
    sources.apply(recipe)
    sources.python(AGENT)
    (row,) = sources.turnspan("diagnose", "slow_turns")
    assert (row["agent"], row["session_id"], row["rounds"]) == ("shop", "s", 0)
    assert row["duration_seconds"] > 0
    assert "slow_turns" in [one["name"] for one in sources.turnspan("diagnose", "--list")]


@pytest.mark.release
def test_an_importer_takes_three_files(sources: Sources, tmp_path: Path) -> None:
    """It imports a conversation, and names the line that is none."""
    recipe = Recipe.of("Add an importer")
    assert len(recipe.steps) == 3
    sources.apply(recipe)
    talk = [
        ("system", "Be brief."),
        ("human", "2 + 2?"),
        ("gpt", "4"),
        ("human", "Why?"),
        ("gpt", "So."),
    ]
    lines: Sequence[Any] = [
        {"model": "m-1", "conversations": [{"from": who, "value": text} for who, text in talk]},
        {"conversations": [{"from": "ghost", "value": "Boo."}]},
    ]
    file = tmp_path / "talks.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    report = sources.turnspan("import", "sharegpt-jsonl", str(file), code=1)
    assert (report["rows"]["llm_call"], len(report["problems"])) == (2, 1)
    calls = sources.turnspan(
        "sql",
        "SELECT project, request_model AS model, response_text AS reply"
        " FROM llm_call ORDER BY start_time",
    )
    assert calls == [
        {"project": "sharegpt-jsonl", "model": "m-1", "reply": reply} for reply in ("4", "So.")
    ]


@pytest.mark.release
@pytest.mark.slow
def test_a_column_of_a_turn_takes_five_files(sources: Sources) -> None:
    """A store with a turn of before is migrated; a decorated turn fills the column, the endpoint
    serves it, and the page, whose types are made of it, names it."""
    recipe = Recipe.of("Add a column to a turn, and show it on the page")
    assert len(recipe.steps) == 5
    sources.python(AGENT)
    sources.python(ENTRY, "migrate")
    sources.apply(recipe)
    assert "turn_tenant" in sources.python(ENTRY, "migrate", "--dry-run")
    sources.python(ENTRY, "migrate")
    sources.python(AGENT)
    rows = sources.turnspan(
        "sql", "SELECT tenant, attributes['tenant'] AS other FROM turn_summary ORDER BY start_time"
    )
    assert rows == [{"tenant": "", "other": "acme"}, {"tenant": "acme", "other": ""}]
    turns = json.loads(sources.python(TURNS))["turns"]
    assert [turn["tenant"] for turn in turns] == ["acme", ""]

    page = sources.folder / "console" / "page"
    types = (page / "src" / "types.ts").read_text("utf-8")
    assert "  tenant: string;" in types.partition("export interface TurnRow {")[2].partition("}")[0]
    assert "plain(tenant)" in (page / "src" / "screens" / "turns.tsx").read_text("utf-8")
    tools = "node_modules/.bin"
    sources.run("bash", "-c", f"cd {page} && {tools}/tsc --noEmit && {tools}/biome ci .")
