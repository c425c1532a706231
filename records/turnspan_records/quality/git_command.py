"""The ``git`` command, asked about a repository that anybody may have made.

Nothing that the repository's own configuration names is run: no hook, no monitor, no pager, no
difference or conversion program, no signature check; nothing is fetched. Paths are paths, whatever
characters are in them, and no answer is longer than a limit.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from turnspan_records.quality.sources import SourceError

LIMIT: Final = 64 * 2**20
"""Bytes of an answer."""
SECONDS: Final = 120.0
_SAFE: Final = (
    *("--no-pager", "--literal-pathspecs", "--no-optional-locks", "--no-replace-objects"),
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "log.showSignature=false", "-c", "diff.external=", "-c", "protocol.allow=never"),
    *("-c", "core.quotePath=false", "-c", "log.mailmap=false"),
)
_ENVIRONMENT: Final = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_CONFIG_COUNT": "0",
}
RAW_LOG: Final = (
    *("log", "--raw", "--no-abbrev", "--no-ext-diff", "--no-textconv", "--no-show-signature"),
    *("--no-color", "--no-decorate"),
)
"""Every log: the files of commits by their whole blobs, whatever the user has configured."""
_LOG: Final = (
    *(*RAW_LOG, "--first-parent", "-m", "--no-renames", "-z"),
    "--format=%H %ct %P%n%an%n%ae%n%B",
)


@dataclass(frozen=True, slots=True)
class FileCommit:
    """A commit that changed one file."""

    commit: str
    at: int
    """When it was committed, in nanoseconds since the epoch."""
    parents: tuple[str, ...]
    author: str
    email: str
    message: str
    status: str
    """``A``, ``M``, ``D``, ``T``; ``R`` where it was renamed to ``path``."""
    before: str
    """The file's blob before it; empty where it was not there."""
    after: str
    path: str


class Repository:
    """A repository, by any folder in it.

    Raises:
        SourceError: there is none, or not all of it, or no ``git``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if not folder.is_dir():
            raise SourceError(f"{folder} is not a folder.")
        if self._line("rev-parse", "--is-shallow-repository") == "true":
            raise SourceError(f"{folder} is a shallow clone: run `git fetch --unshallow` in it.")
        if not self._succeeds("rev-parse", "--verify", "--quiet", "HEAD"):
            raise SourceError(f"{folder.absolute()} has no commit yet.")
        roots = self.text("rev-list", "--max-parents=0", "--first-parent", "HEAD").split()
        self.first_commit: str = roots[-1]
        """What it has in common with all its clones."""
        bare = self._line("rev-parse", "--is-bare-repository") == "true"
        self.top: Path | None = None if bare else Path(self._line("rev-parse", "--show-toplevel"))
        """The folder that its paths begin in."""
        self.long: bool = len(self.first_commit) == 64
        """Whether its hashes are SHA-256."""

    def changes(self, path: str, since: int = 0) -> list[FileCommit]:
        """What changed a file on the main line, the oldest first, and wherever it was renamed to;
        of a merge, what it brought. ``since`` is in nanoseconds since the epoch."""
        found: list[FileCommit] = []
        first = ""
        seen = {path}
        while True:
            bounds = [f"--since=@{since // 10**9}"] if since else []
            revisions = [f"{first}..HEAD"] if first else ["HEAD"]
            answer = self.text(*_LOG, *bounds, *revisions, "--", path)
            renamed = None
            for change in reversed(parsed(answer)):
                found.append(change)
                renamed = self._renamed(change) if change.status == "D" else None
                if renamed is not None and renamed.path not in seen:
                    found[-1] = renamed
                    break
                renamed = None
            if renamed is None:
                return found
            first, path = renamed.commit, renamed.path
            seen.add(path)

    def authors(self, merge: FileCommit) -> list[tuple[str, str]]:
        """Who made what a merge brought to a file: names and addresses."""
        first, *others = merge.parents
        answer = self.text("log", "-z", "--format=%an%n%ae", *others, f"^{first}", "--", merge.path)
        made = [one.partition("\n") for one in answer.split("\0") if one.strip()]
        return [(name, address.strip()) for name, _, address in made]

    def descends(self, commit: str, from_: str) -> bool:
        """Whether a commit has another one in its history."""
        return self._succeeds("merge-base", "--is-ancestor", from_, commit)

    def has(self, commit: str) -> bool:
        """Whether there is such a commit."""
        return self._succeeds("cat-file", "-e", f"{commit}^{{commit}}")

    def blob(self, id_: str) -> bytes:
        """A file's content, as it was committed."""
        return self._bytes("cat-file", "blob", id_)

    def _renamed(self, change: FileCommit) -> FileCommit | None:
        """Of a commit in which a file disappeared: where it went to."""
        if not change.parents:
            return None
        tokens = self.text(
            *("diff-tree", "-r", "-M", "--raw", "--no-abbrev", "-z", "--no-commit-id"),
            *("--no-ext-diff", "--no-textconv", change.parents[0], change.commit),
        ).split("\0")
        for at, token in enumerate(tokens):
            told = token.split(" ")
            if token.startswith(":") and told[4].startswith("R") and tokens[at + 1] == change.path:
                return FileCommit(
                    *(change.commit, change.at, change.parents, change.author, change.email),
                    *(change.message, "R", told[2], told[3], tokens[at + 2]),
                )
        return None

    def _line(self, *arguments: str) -> str:
        return self.text(*arguments).rstrip("\n")

    def text(self, *arguments: str) -> str:
        """The answer to one question.

        Raises:
            SourceError: there is none, or it is too long.
        """
        return self._bytes(*arguments).decode("utf-8", "surrogateescape")

    def _bytes(self, *arguments: str) -> bytes:
        with self._asking(arguments) as (git, answers):
            late = threading.Timer(SECONDS, git.kill)
            late.start()
            try:
                answer = answers.read(LIMIT + 1)
            finally:
                late.cancel()
            if len(answer) > LIMIT:
                raise SourceError(f"git answers with more than {LIMIT // 2**20} MB.")
        return answer

    def _succeeds(self, *arguments: str) -> bool:
        try:
            self._bytes(*arguments)
        except SourceError:
            return False
        return True

    def blobs(self, ids: Iterable[str]) -> Iterator[bytes]:
        """The contents of files as they were committed, in the order of their ids.

        Raises:
            SourceError: there is no such file.
        """
        with tempfile.TemporaryFile() as asked:
            asked.write("".join(f"{id_}\n" for id_ in ids).encode("ascii"))
            asked.seek(0)
            with self._asking(("cat-file", "--batch"), asked) as (_, answers):
                for head in answers:
                    size = head.split()[-1]
                    if not size.isdigit():
                        raise SourceError(f"git has no {head.decode('ascii', 'replace').strip()}.")
                    yield answers.read(int(size) + 1)[:-1]

    def lines(self, *arguments: str) -> Iterator[bytes]:
        """The lines of a long answer, as they come, without their line feeds.

        Raises:
            SourceError: git refuses, perhaps after some lines.
        """
        with self._asking(arguments) as (_, answers):
            for line in answers:
                yield line.removesuffix(b"\n")

    @contextlib.contextmanager
    def _asking(
        self, arguments: tuple[str, ...], asked: IO[bytes] | None = None
    ) -> Generator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
        """Git while it answers, and its answer. It is killed where the reader has enough.

        What it says beside goes to a file: a pipe that nobody reads fills up, and git waits.
        """
        command = [os.fsencode(one) for one in ("git", *_SAFE, *arguments)]
        # Without what turns `git` to another repository or has it run something.
        kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        with tempfile.TemporaryFile() as said:
            try:
                git = subprocess.Popen(
                    command,
                    cwd=self._folder,
                    env=kept | _ENVIRONMENT,
                    stdin=asked or subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=said,
                )
            except FileNotFoundError:
                raise SourceError("There is no `git` on the path.") from None
            with git:
                assert git.stdout is not None
                try:
                    yield git, git.stdout
                except BaseException:
                    git.kill()
                    raise
            if git.returncode:
                said.seek(max(0, said.seek(0, os.SEEK_END) - 4_096))
                lines = said.read().decode("utf-8", "replace").strip().splitlines()
                why = lines[-1] if lines else f"status {git.returncode}"
                raise SourceError(f"git cannot be asked about {self._folder}: {why}")


def parsed(answer: str) -> list[FileCommit]:
    """The changes of one file in the answer of ``git log``, the newest first."""
    found: list[FileCommit] = []
    head = ""
    tokens = iter(answer.split("\0"))
    for token in tokens:
        told = token.lstrip("\n")
        if not told:
            continue
        if not told.startswith(":"):
            head = told
            continue
        _, _, before, after, status = told.split(" ")
        found.append(_change(head, status[:1], before, after, next(tokens)))
    return found


def _change(head: str, status: str, before: str, after: str, path: str) -> FileCommit:
    about, author, email, message = (head.split("\n", 3) + [""] * 3)[:4]
    commit, at, *parents = about.split(" ")
    return FileCommit(
        commit,
        int(at) * 10**9,
        tuple(one for one in parents if one),
        _plain(author),
        _plain(email),
        _plain(message),
        status,
        before.strip("0") and before,
        after.strip("0") and after,
        path,
    )


def _plain(text: str) -> str:
    """A text that can be written down; paths stay the bytes that they are."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
