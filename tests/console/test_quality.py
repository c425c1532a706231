"""``turnspan quality``, with a real wiki and a real repository."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from support.artifacts import artifact
from support.kept_stores import migrated
from support.landing import insert
from support.mediawiki import BOT_PASSWORD, RealWiki
from support.story import Invoke
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store

pytestmark = pytest.mark.usefixtures("kept_engine")

HOSTILE = "evil \x1b[31m \u202e title"


@pytest.fixture
def dsn(tmp_path: Path, real_wiki: RealWiki) -> str:
    """A store with a page that a person changed, one that is new, and one of no title."""
    made = Dsn(scheme="chdb", path=tmp_path / "store")
    with migrated(made) as store:
        for name in ("changed", "new"):
            title = f"Command {name} {tmp_path.name}"
            real_wiki.write("Agent", title, "Ships pass by night.")
            insert(store, *artifact(name, title, "Ships pass by night."))
        insert(store, *artifact("odd", HOSTILE, "text"))
        real_wiki.write("Ada", f"Command changed {tmp_path.name}", "Ships pass by day.")
    return str(made)


def test_a_wiki_is_asked_and_the_answer_shown(
    invoke: Invoke, dsn: str, real_wiki: RealWiki
) -> None:
    """Counts, and a line an artifact; again only what is not settled; nothing hostile is
    printed."""
    asked = ("--store", dsn, "quality", "--mediawiki", real_wiki.api)
    shown = invoke(*asked)
    assert (shown.exit_code, shown.stderr) == (0, "")
    first = shown.stdout.splitlines()[0]
    assert first == "3 artifacts  1 modified, 1 undecided, 1 not found  3 new judgments"
    assert "a person changed it" in shown.stdout
    assert "\x1b" not in shown.stdout and "\u202e" not in shown.stdout
    again = invoke(*asked, "--format", "json")
    told = json.loads(again.stdout)
    assert told["counts"] == {"modified": 1, "undecided": 1, "not_found": 1}
    assert told["judgments"] == 0
    (changed,) = [one for one in told["artifacts"] if one["artifact_id"] == "changed"]
    assert (changed["decision"], changed["found_by"]) == ("modified", "text")
    assert 0 < changed["similarity"] < 1
    rows = invoke(*asked, "--format", "jsonl").stdout.splitlines()
    assert {json.loads(row)["decision"] for row in rows} == set(told["counts"])
    none = invoke(*asked, "--kind", "file")
    assert (none.exit_code, "There is no artifact to check" in none.stderr) == (1, True)
    none = invoke(*asked, "--since", "2030-01-01", "--format", "csv")
    assert none.exit_code == 1


def test_both_texts_are_compared(invoke: Invoke, dsn: str, real_wiki: RealWiki) -> None:
    """The correction is an artifact like others."""
    invoke("--store", dsn, "quality", "--mediawiki", real_wiki.api)
    sql = "SELECT artifact_id FROM artifact WHERE kind = 'correction'"
    found = invoke("--store", dsn, "sql", "--format", "csv", sql).stdout.splitlines()[1]
    shown = invoke("--store", dsn, "compare", "changed", found)
    assert (shown.exit_code, "day" in shown.stdout and "night" in shown.stdout) == (0, True)


@pytest.mark.release  # records/test_mediawiki_client logs in as well
def test_a_private_wiki_by_the_environment_or_a_file(
    invoke: Invoke, dsn: str, real_wiki: RealWiki, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Never by the command line; the password is in no output and in no record."""
    asked = ("--store", dsn, "quality", "--mediawiki", real_wiki.private_api)
    refused = invoke(*asked)
    assert (refused.exit_code, "log in with a bot password" in refused.stderr) == (3, True)
    file = tmp_path / "bot.json"
    file.write_text(json.dumps({"user": "Agent@trial", "password": BOT_PASSWORD}))
    let_in = invoke(*asked, "--credentials", str(file), "--contact", "ops@example.org")
    assert (let_in.exit_code, let_in.stdout[:11]) == (0, "3 artifacts")
    monkeypatch.setenv("TURNSPAN_MEDIAWIKI_USER", "Agent@trial")
    monkeypatch.setenv("TURNSPAN_MEDIAWIKI_PASSWORD", BOT_PASSWORD)
    again = invoke(*asked)
    assert again.exit_code == 0
    assert BOT_PASSWORD not in let_in.output + again.output
    stored = b"".join(path.read_bytes() for path in Path(dsn[7:]).rglob("*") if path.is_file())
    assert BOT_PASSWORD.encode() not in stored


def test_a_repository_is_asked(invoke: Invoke, dsn: str, tmp_path: Path) -> None:
    """By any folder in it."""
    folder = tmp_path / "project"
    folder.mkdir()
    git = ["git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    (folder / "a.py").write_text("print('one thing')\n")
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "One"]):
        subprocess.run([*git, *arguments], cwd=folder, check=True)
    with open_store(Dsn(scheme="chdb", path=Path(dsn[7:]))) as store:
        insert(store, *artifact("file", "a.py", "print('one thing')\n", kind="file"))
    shown = invoke("--store", dsn, "quality", "--git", str(folder), "--kind", "file")
    assert (shown.exit_code, "1 undecided" in shown.stdout) == (0, True), shown.output
    none = invoke("--store", dsn, "quality", "--git", str(tmp_path))
    assert (none.exit_code, "not a git repository" in none.stderr) == (3, True)


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "Choose a source"),
        (["--git", ".", "--mediawiki", "https://example.org/api.php"], "Choose a source"),
        (["--mediawiki", "ftp://example.org"], "is not an http or https address"),
        (["--mediawiki", "https://a:secret@example.org/api.php"], "no name and no password"),
        (["--git", ".", "--window", "soon"], "is no duration"),
        (["--git", ".", "--since", "soon"], "is not a time"),
        (["--mediawiki", "https://example.org/api.php", "--credentials", "no.json"], "cannot be"),
    ],
)
def test_wrong_usage(invoke: Invoke, filled: str, arguments: list[str], why: str) -> None:
    """Is said in a sentence."""
    said = invoke("--store", filled, "quality", *arguments)
    assert (said.exit_code, why in said.stderr) == (2, True), said.output
    assert "secret" not in said.output
