"""What became of files that an agent wrote, asked of real git repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from support.artifacts import artifact
from support.cluster import Cluster
from support.kept_stores import migrated
from support.landing import insert
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.quality.artifact_checks import (
    ArtifactCheck,
    ArtifactFilter,
    artifact_checks,
    corrections,
)
from turnspan_records.quality.check_run import QualityReport, check_quality
from turnspan_records.quality.git import GitSource
from turnspan_records.quality.git_command import Repository
from turnspan_records.quality.sources import ArtifactVerdict, SourceError, WrittenArtifact

HOUR, DAY = 3_600, 86_400
OLD = "import os\n\n\ndef first():\n    return 1\n"
NEW = OLD + "\n\ndef second():\n    total = first() + 1\n    return total\n"
MENDED = NEW.replace("first() + 1", "first() + 2")


@dataclass
class Project:
    """A repository whose commits have the times that they are given."""

    folder: Path
    now: int

    def git(self, *arguments: str, at: float = 0, author: str = "Ada <ada@example.org>") -> str:
        """Run git, so many seconds after the beginning, as somebody."""
        name, _, address = author.partition(" <")
        when = f"{self.now + int(at)} +0000"
        known = {
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        for role in ("AUTHOR", "COMMITTER"):
            known[f"GIT_{role}_NAME"] = name
            known[f"GIT_{role}_EMAIL"] = address.rstrip(">")
            known[f"GIT_{role}_DATE"] = when
        done = subprocess.run(
            ["git", "-c", "init.defaultBranch=main", *arguments],
            cwd=self.folder,
            env={**os.environ, **known},
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def commit(
        self, files: dict[str, str | None], at: float, message: str = "Change", **by: str
    ) -> str:
        """Commit files; ``None`` removes one."""
        for name, text in files.items():
            path = self.folder / name
            if text is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(text.encode())
        self.git("add", "-A", at=at, **by)
        self.git("commit", "-q", "-m", message, at=at, **by)
        return self.git("rev-parse", "HEAD")

    def look(
        self, written: WrittenArtifact, *, days: float = 20, own: tuple[str, ...] = ()
    ) -> ArtifactVerdict:
        """What became of a file, so many days after the beginning."""
        clock = (self.now + round(days * DAY)) * 10**9
        source = GitSource(self.folder, own=own, clock=lambda: clock)
        ((_, verdict),) = source.verdicts([written], timedelta(days=14))
        return verdict

    def written(self, target: str, text: str | None = NEW, **values: Any) -> WrittenArtifact:
        """What an agent wrote an hour after the beginning."""
        known: dict[str, Any] = {
            "project": "shop",
            "artifact_id": "a",
            "version": "",
            "kind": "file",
            "session_id": "s1",
            "trace_id": "",
            "turn_id": "t1",
            "call_id": "",
            "created_at": (self.now + HOUR) * 10**9,
        }
        return WrittenArtifact(target=target, text=text, **{**known, **values})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A repository with one file."""
    folder = tmp_path / "project"
    folder.mkdir()
    made = Project(folder, int(time.time()) - 30 * DAY)
    made.git("init", "-q")
    made.commit({"app.py": OLD, "other.py": "print('other')\n"}, 0, "Begin")
    return made


def test_lines_that_survive_are_used(project: Project) -> None:
    """Whatever people change beside them, and wherever the file is moved to."""
    project.commit({"app.py": NEW}, 2 * HOUR)
    one = project.written("app.py")
    assert project.look(one, days=5).decision == "undecided"
    project.commit({"app.py": "import sys\n" + NEW}, DAY)
    (project.folder / "src").mkdir()
    project.git("mv", "app.py", "src/main.py", at=2 * DAY)
    project.git("commit", "-q", "-m", "Move", at=2 * DAY)
    verdict = project.look(one)
    assert (verdict.decision, verdict.found_by) == ("used", "text")
    assert project.look(project.written(str(project.folder / "app.py"))).decision == "used"
    project.commit({"src/main.py": MENDED}, 3 * DAY)
    after = project.look(one)
    assert (after.decision, after.later_text) == ("modified", MENDED)


def test_a_line_that_a_person_changed_is_a_correction(project: Project) -> None:
    """The file as the person left it; what bots and the agent itself change does not count."""
    project.commit({"app.py": NEW}, 2 * HOUR)
    one = project.written("app.py")
    by_bot = {"author": "tidy[bot] <tidy[bot]@users.noreply.example.org>"}
    project.commit({"app.py": NEW.replace("total", "sum_")}, DAY, **by_bot)
    assert project.look(one).decision == "used"
    by_agent = {"author": "Agent <agent@example.org>"}
    last = NEW.replace("def second", "def third")
    project.commit({"app.py": last}, 2 * DAY, **by_agent)
    assert project.look(one).decision == "modified"
    verdict = project.look(one, own=("agent@example.org",))
    assert (verdict.decision, verdict.reason) == ("used", "no person changed it")
    changed = project.commit({"app.py": last.replace("first() + 1", "2")}, 3 * DAY)
    verdict = project.look(one, own=("Agent",))
    assert (verdict.decision, verdict.later_revision) == ("modified", changed)
    assert verdict.later_by == "Ada"


def test_reverted_deleted_or_nothing_left_is_rejected(project: Project) -> None:
    """And a revert that is reverted brings the lines back."""
    wrote = project.commit({"app.py": NEW}, 2 * HOUR)
    one = project.written("app.py")
    project.git("revert", "--no-edit", wrote, at=DAY)
    verdict = project.look(one)
    assert (verdict.decision, verdict.reason, verdict.revision) == ("rejected", "reverted", wrote)
    project.git("revert", "--no-edit", "HEAD", at=2 * DAY)
    assert project.look(one).decision == "used"
    project.commit({"app.py": "def first():\n    return 1\n"}, 3 * DAY)
    assert project.look(one).reason == "none of its lines is left"
    project.commit({"app.py": NEW}, 4 * DAY)
    assert project.look(one).decision == "used"
    project.commit({"app.py": None}, 5 * DAY)
    assert project.look(one).reason == "the file was deleted"


def test_after_the_window_nothing_counts(project: Project) -> None:
    """However late it is looked."""
    project.commit({"app.py": NEW}, 2 * HOUR)
    project.commit({"app.py": None}, 15 * DAY)
    assert project.look(project.written("app.py"), days=25).decision == "used"


def test_a_text_that_a_person_changed_before_it_was_committed(project: Project) -> None:
    """Found by its lines; of several texts that an agent wrote one after the other, the last is
    what is committed, and no correction of the first."""
    project.commit({"app.py": MENDED}, 2 * HOUR)
    verdict = project.look(project.written("app.py"))
    assert (verdict.decision, verdict.later_text) == ("modified", MENDED)
    source = GitSource(project.folder, clock=lambda: (project.now + 20 * DAY) * 10**9)
    both = [
        project.written("app.py"),
        project.written("app.py", MENDED, artifact_id="b", created_at=(project.now + 2) * 10**9),
    ]
    found = {one.artifact_id: v for one, v in source.verdicts(both, timedelta(days=14))}
    assert (found["a"].decision, found["b"].decision) == ("used", "used")


def test_found_by_the_commit_or_by_author_and_time(project: Project) -> None:
    """Where the text was not recorded; the commit may have come in by a merge."""
    project.git("checkout", "-q", "-b", "topic")
    wrote = project.commit({"app.py": NEW}, 2 * HOUR, author="Agent <agent@example.org>")
    project.git("checkout", "-q", "main")
    project.commit({"other.py": "print('else')\n"}, 3 * HOUR)
    project.git("merge", "-q", "--no-ff", "--no-edit", "topic", at=4 * HOUR)
    verdict = project.look(project.written("app.py", None, version=wrote[:10]))
    assert (verdict.decision, verdict.found_by) == ("used", "version")
    near = project.written("app.py", None, created_at=(project.now + 4 * HOUR + 60) * 10**9)
    assert project.look(near).decision == "not_found"
    verdict = project.look(near, own=("Agent <agent@example.org>",))
    assert (verdict.decision, verdict.found_by) == ("used", "user and time")
    project.git("checkout", "-q", "-b", "people", at=DAY)
    project.commit({"app.py": MENDED}, DAY)
    project.git("checkout", "-q", "main")
    project.commit({"other.py": "print('more')\n"}, DAY)
    project.git("merge", "-q", "--no-ff", "--no-edit", "people", at=2 * DAY)
    assert project.look(project.written("app.py")).decision == "modified"


@pytest.mark.parametrize(
    ("target", "decision"),
    [
        ("missing.py", "not_found"),
        ("../outside.py", "not_found"),
        ("/etc/passwd", "not_found"),
        ("--output=x", "not_found"),
        (":(glob)**", "not_found"),
        ("a\0b", "not_found"),
        ("", "not_found"),
        ("other.py", "not_found"),
        ("app.py", "not_judged"),
    ],
)
def test_what_is_not_there_is_not_judged(project: Project, target: str, decision: str) -> None:
    """Paths are nothing but paths; a text without a new line has nothing that could survive."""
    project.commit({"app.py": "def first():\n    return 1\n"}, 2 * HOUR)
    one = project.written(target, "def first():\n    return 1\n")
    assert project.look(one).decision == decision
    assert not (project.folder / "x").exists()


def test_hostile_names_and_a_hostile_repository(project: Project, tmp_path: Path) -> None:
    """Nothing that the repository's configuration names is run, and names may be anything."""
    name = "a\n:100644 é\t\x1b[31m.py"
    project.commit({name: NEW, ".gitattributes": "* diff=evil\n"}, 2 * HOUR, author="E\x1b[31m <e>")
    witness = tmp_path / "witness"
    for key in (
        *("core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv"),
        *("diff.evil.command", "gpg.program", "core.sshCommand", "core.hooksPath"),
    ):
        project.git("config", key, f"touch {witness};")
    project.git("config", "log.showSignature", "true")
    project.git("config", "core.hooksPath", str(tmp_path))
    verdict = project.look(project.written(name))
    assert verdict.decision == "used"
    assert not witness.exists()


def test_what_is_no_repository_is_said(project: Project, tmp_path: Path) -> None:
    """As is a clone without its history, whose first commit is another one."""
    with pytest.raises(SourceError, match="not a git repository"):
        Repository(tmp_path)
    with pytest.raises(SourceError, match="not a folder"):
        Repository(tmp_path / "missing")
    project.commit({"app.py": NEW}, HOUR)
    project.git("clone", "-q", "--depth=1", f"file://{project.folder}", str(tmp_path / "clone"))
    with pytest.raises(SourceError, match="--unshallow"):
        Repository(tmp_path / "clone")


def test_git_may_complain_at_length(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However it is asked: more than a pipe takes does not stop it, and of a refusal the last line
    is told."""
    real, wrapper = shutil.which("git"), tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nyes "warning: odd" | head -c 500000 >&2\nexec {real} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper.parent}:{os.environ['PATH']}")
    repository = Repository(project.folder)
    paths = repository.text("ls-files").split()
    ids = [repository.text("rev-parse", f"HEAD:{path}").strip() for path in paths]
    assert list(repository.blobs(ids)) == [OLD.encode(), b"print('other')\n"]
    assert list(repository.lines("ls-files")) == [path.encode() for path in paths]
    assert next(iter(repository.lines("log", "--format=%s"))) == b"Begin"
    assert not repository.has("0" * 40) and repository.descends("HEAD", "HEAD")
    with pytest.raises(SourceError, match="bad revision"):
        repository.text("log", "nowhere", "--")
    with pytest.raises(SourceError, match="bad revision"):
        list(repository.lines("log", "nowhere", "--"))
    with pytest.raises(SourceError, match=f"no {'0' * 40} missing"):
        list(repository.blobs([*ids, "0" * 40]))


def look(store: Store, folder: Path, days: float, start: int, **given: Any) -> QualityReport:
    def clock() -> int:
        return (start + round(days * DAY)) * 10**9

    return check_quality(
        lambda: nullcontext(store),
        Spool(store.dsn.spool),
        GitSource(folder, clock=clock),
        clock=clock,
        **given,
    )


def found(store: Store) -> dict[str, ArtifactCheck]:
    return {one.artifact_id: one for one in artifact_checks(store)}


def test_a_repository_becomes_judgments(project: Project, store: Store, tmp_path: Path) -> None:
    """A clone on another machine goes on with what is known."""
    becomes_judgments(project, store, tmp_path)


def test_and_so_it_does_over_a_cluster(
    project: Project, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are found wherever they lie."""
    monkeypatch.setenv("TURNSPAN_SPOOL", str(tmp_path / "spool"))
    cluster.migrate("quality")
    with open_store(cluster.dsn("quality", node=1)) as store:
        becomes_judgments(project, store, tmp_path)


def becomes_judgments(project: Project, store: Store, tmp_path: Path) -> None:
    """What two files become, looked at from two clones."""
    at = (project.now + HOUR) * 10**9
    insert(store, *artifact("kept", "app.py", NEW, kind="file", created_at=at))
    insert(store, *artifact("gone", "gone.py", "print('gone')\n", kind="file", created_at=at))
    insert(store, *artifact("page", "Main Page", "text", created_at=at))
    project.commit({"app.py": NEW, "gone.py": "print('gone')\n"}, 2 * HOUR)
    wanted = ArtifactFilter(kinds=("file",))
    report = look(store, project.folder, 1, project.now, wanted=wanted)
    assert report.counts == {"undecided": 2}
    project.commit({"gone.py": None, "app.py": MENDED}, 2 * DAY)
    project.git("clone", "-q", str(project.folder), str(tmp_path / "clone"))
    report = look(store, tmp_path / "clone", 3, project.now, wanted=wanted)
    assert report.counts == {"modified": 1, "rejected": 1}
    (correction,) = corrections(store)
    assert (correction.corrected, correction.artifact_id) == (MENDED, "kept")
    rows = store.query(
        "SELECT subject_kind, subject_id, outcome, author FROM annotation_current"
        " WHERE kind = 'outcome' ORDER BY subject_kind, subject_id"
    ).rows
    assert [tuple(row) for row in rows] == [
        ("artifact", "gone", "rejected", "passive:git"),
        ("artifact", "kept", "modified", "passive:git"),
        ("turn", "turn-gone", "rejected", "passive:git"),
        ("turn", "turn-kept", "modified", "passive:git"),
    ]
    assert len(look(store, project.folder, 20, project.now, wanted=wanted).checks) == 2
    assert look(store, project.folder, 21, project.now, wanted=wanted).checks == []
    assert set(found(store)) == {"kept", "gone"}


@pytest.mark.release
def test_many_artifacts_are_read_page_by_page(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each once, those that are masked or not recorded as well; progress goes to the end."""
    monkeypatch.delenv("TURNSPAN_SPOOL", raising=False)
    with migrated(Dsn(scheme="chdb", path=tmp_path / "store")) as store:
        rows = [artifact(f"a{n}", f"f{n % 7}.py", f"print({n}) # one\n") for n in range(450)]
        rows.append(artifact("cut", "app.py", "cut", content_bytes=99))
        rows.append(artifact("none", "app.py", "", content=bytes(16)))
        insert(store, *(row for several in rows for row in several))
        told: list[tuple[int, int]] = []

        def progress(done: int, total: int) -> None:
            told.append((done, total))

        report = look(store, project.folder, 0, project.now, progress=progress)
    assert len({one.artifact_id for one in report.checks}) == len(report.checks) == 452
    assert told[-1] == (452, 452)
