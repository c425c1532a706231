"""Generated git repositories in which coding agents and people work, with every line's author."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from support.rows import tool, turn
from turnspan_clickhouse.rows.tables import ToolCall, TurnSummary

START = 1_780_000_000
"""When the first thing happens, in seconds since the epoch."""
PEOPLE = ("Ada", "Bo", "Cy")
_NOUNS = (
    *("order", "price", "stock", "user", "page", "token", "cache"),
    *("batch", "route", "shard", "frame", "queue", "label", "index"),
)
_VERBS = (
    *("load", "find", "store", "merge", "parse", "check", "build"),
    *("send", "apply", "count", "trim", "fetch", "mark", "sort"),
)


_LITTLE = (
    *("import os", "x = 1", "total = 0", "def f():", "    return x", "def main(argv):", "if x:"),
    *("    pass", "else:", "print(f())", "main()", "for a in b:", "    a.go()", "name: shop"),
    *("port: 80", "- run: make", "FROM python:3", "RUN make", "# Shop", "<p>hi</p>", "<ul>", "}"),
    *("", "a {", "  top: 0;", "try:", "    go()", "except E:", "test: all", "\tpytest", "end"),
)


@dataclass(frozen=True)
class Line:
    """A line, and who wrote it: an agent's turn or a person."""

    text: str
    author: str
    how: str
    """The operation by which it is what it is."""
    was: str = ""
    """The turn whose line a person changed."""


Files = dict[str, list[Line]]


@dataclass
class World:
    """A repository that is made, and what is recorded of the agents in it."""

    folder: Path
    seed: int
    project: str
    files: Files = field(default_factory=dict[str, list[Line]])
    turns: list[TurnSummary] = field(default_factory=list[TurnSummary])
    tools: list[ToolCall] = field(default_factory=list[ToolCall])
    now: int = START
    away: bool = False
    """Whether the agent works in another clone: what is not committed does not go there."""
    done: Counter[str] = field(default_factory=Counter[str])

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.folder.mkdir(parents=True)
        self.git("init", "-q", "-b", "main")
        self.git("remote", "add", "origin", f"git@example.org:team/{self.project}.git")
        self.create("src/app.py", "first", "Ada")
        self.create("src/core/util.py", "first", "Ada")
        self.commit("first", "Ada")

    # git

    def git(self, *arguments: str, author: str = "Ada", authored: int = 0) -> str:
        made, when = f"{self.now} +0000", f"{authored or self.now} +0000"
        mail = f"{author.lower()}@example.org"
        environment = os.environ | {
            "GIT_AUTHOR_DATE": when,
            "GIT_COMMITTER_DATE": made,
            "GIT_AUTHOR_NAME": author,
            "GIT_AUTHOR_EMAIL": mail,
            "GIT_COMMITTER_NAME": author,
            "GIT_COMMITTER_EMAIL": mail,
            "GIT_EDITOR": "true",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_SYSTEM": os.devnull,
        }
        answer = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, check=False
        )
        assert not answer.returncode, (arguments, answer.stderr, answer.stdout)
        return answer.stdout.decode()

    def write(self) -> None:
        """Bring the files of the folder to what they should be."""
        for path, lines in self.files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / path).write_text("".join(f"{one.text}\n" for one in lines))

    def later(self, most: int = 7200) -> None:
        self.now += self.rng.randint(60, most)

    def commit(self, message: str, author: str = "") -> None:
        self.later(600)
        self.write()
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, author=author or self.person())
        self.away = self.rng.random() < 0.3

    def person(self) -> str:
        return self.rng.choice(PEOPLE)

    # code

    def block(self, path: str, author: str, how: str) -> list[Line]:
        """A function, as somebody writes it."""
        rng = self.rng
        verb, noun, other = rng.choice(_VERBS), rng.choice(_NOUNS), rng.choice(_NOUNS)
        number, name = rng.randint(1, 999), f"{verb}_{noun}"
        if path.endswith(".py"):
            texts = [
                f"def {name}({noun}, {other}=None):",
                f'    """{verb.title()} a {noun} for {other} {number}."""',
                f"    result = {verb}_all({noun}, '{other}', limit={number})",
                *rng.choice(
                    (
                        ["    if not result:", "        return None"],
                        [f"    for one in {noun}:", f"        {other}.append(one.{noun})"],
                        [
                            f"    if {other} > {number}:",
                            f"        log('{noun} {number}')",
                            "    else:",
                            f"        {noun}.{verb}({number})",
                        ],
                    )
                ),
                "    return result",
                "",
            ]
        else:
            texts = [
                f"function {name}({noun}, {other}) {{",
                f"  const result = {verb}All({noun}, '{other}', {number});",
                "  if (!result) {",
                f"    {noun}.{verb}({number});",
                "  }",
                "  return result;",
                "}",
                "",
            ]
        return [Line(text, author, how) for text in texts]

    def create(self, path: str, how: str, author: str) -> None:
        self.files[path] = [
            one for _ in range(self.rng.randint(2, 4)) for one in self.block(path, author, how)
        ]

    def some(self, least: int = 6) -> str:
        return self.rng.choice(
            [path for path, lines in sorted(self.files.items()) if len(lines) >= least]
        )

    def gap(self, lines: Sequence[Line]) -> int:
        """Between two functions."""
        places = [at + 1 for at, one in enumerate(lines) if not one.text]
        return self.rng.choice(places or [0])

    # agents

    def record(self, calls: Sequence[tuple[str, Any]], agent: str, id_: str) -> None:
        """A turn that ran these tools."""
        folder = f"/home/else/{self.project}" if self.away else str(self.folder)
        self.turns.append(
            turn(
                id_,
                project=self.project,
                start_time=(self.now - 30) * 10**9,
                agent_name=agent,
                user_message=f"Please do {id_}",
                models=["m-large"],
                cost_usd=1,
                attributes={
                    "process.working_directory": folder,
                    "vcs.repository.url.full": f"https://example.org/team/{self.project}",
                    "turnspan.coding.tool": agent,
                },
            )
        )
        for number, (name, given) in enumerate(calls):
            text = given if isinstance(given, str) else json.dumps(given)
            self.tools.append(
                tool(
                    f"{id_}-{number}",
                    project=self.project,
                    turn_id=id_,
                    call_id=f"call-{id_}-{number}",
                    name=name,
                    arguments=text.replace("{folder}", folder),
                    start_time=self.now * 10**9 + number,
                )
            )

    def agent(self, path: str, new: list[Line], id_: str) -> None:
        """An agent makes a file what it should be, with one of the tools."""
        old = self.files.get(path)
        self.later()
        text = "".join(f"{one.text}\n" for one in new)
        where = "{folder}/" + path
        choices: list[tuple[str, str, Any]]
        if old is None or self.rng.random() < 0.15:
            choices = [
                ("claude-code", "Write", {"file_path": where, "content": text}),
                ("gemini-cli", "write_file", {"file_path": where, "content": text}),
                ("opencode", "write", {"filePath": path, "content": text}),
                ("copilot", "create", {"path": where, "file_text": text}),
                ("codex", "shell", {"command": f"cat > {path} <<'EOF'\n{text}EOF"}),
            ]
        else:
            before, after = changed_region([one.text for one in old], [one.text for one in new])
            replaced, placed = "\n".join(before), "\n".join(after)
            rows = [*(f"-{one}" for one in before), *(f"+{one}" for one in after)]
            head = f"*** Begin Patch\n*** Update File: {path}\n@@"
            patch = "\n".join((head, *rows, "*** End Patch"))
            both = {"old_string": replaced, "new_string": placed}
            mixed = {"filePath": path, "oldString": replaced, "newString": placed}
            choices = [
                ("claude-code", "Edit", {"file_path": where, **both}),
                ("claude-code", "MultiEdit", {"file_path": where, "edits": [both]}),
                ("gemini-cli", "replace", {"file_path": where, **both}),
                ("opencode", "edit", mixed),
                ("pi", "edit", {"path": path, "oldText": replaced, "newText": placed}),
                ("codex", "apply_patch", patch),
                ("codex", "exec_command", {"cmd": f"apply_patch <<'EOF'\n{patch}\nEOF"}),
            ]
        agent, name, given = self.rng.choice(choices)
        self.record([(name, given)], agent, id_)
        self.files[path] = new

    def new_turn(self) -> str:
        return f"{self.seed:04x}{len(self.turns):012x}"

    # operations

    def agent_creates(self) -> None:
        id_ = self.new_turn()
        path = f"src/{self.rng.choice(_NOUNS)}{len(self.files)}.{self.rng.choice(('py', 'ts'))}"
        blocks = [self.block(path, id_, "agent_creates") for _ in range(self.rng.randint(1, 4))]
        self.agent(path, [one for block in blocks for one in block], id_)

    def agent_inserts(self) -> None:
        path, id_ = self.some(), self.new_turn()
        lines = list(self.files[path])
        at = self.gap(lines)
        lines[at:at] = self.block(path, id_, "agent_inserts")
        self.agent(path, lines, id_)

    def agent_changes(self) -> None:
        path, id_ = self.some(), self.new_turn()
        lines = list(self.files[path])
        at = self.rng.choice([at for at, one in enumerate(lines) if len(one.text) > 20])
        for place in range(at, min(at + self.rng.randint(1, 3), len(lines))):
            text = lines[place].text
            new = re.sub(r"\w+", lambda one: one[0], text)
            words = re.findall(r"[a-z]{3,}", text)
            if words:
                new = text.replace(words[-1], f"{words[-1]}_{self.rng.choice(_NOUNS)}")
                lines[place] = Line(new, id_, "agent_changes")
        self.agent(path, lines, id_)

    def agent_renames_a_word(self) -> None:
        """A part of a line is replaced: the strings of the tool are no whole lines."""
        path, id_ = self.some(), self.new_turn()
        lines = list(self.files[path])
        text = "\n".join(one.text for one in lines)
        words = [word for word in re.findall(r"\w{3,}\(\w+", text) if text.count(word) == 1]
        if not words:
            return
        old = self.rng.choice(words)
        new = f"{self.rng.choice(_VERBS)}_fast{self.rng.randint(1, 99)}({old.partition('(')[2]}"
        self.later()
        given = {"file_path": "{folder}/" + path, "old_string": old, "new_string": new}
        self.record([("Edit", given)], "claude-code", id_)
        self.files[path] = [
            Line(one.text.replace(old, new), id_, "agent_renames_a_word")
            if old in one.text
            else one
            for one in lines
        ]

    def agent_runs_sed(self) -> None:
        """A command changes a file, and the change is committed at once."""
        self.commit("before sed")
        path, id_ = self.some(), self.new_turn()
        word, new = self.rng.choice(_NOUNS), f"x{self.rng.randint(10, 99)}"
        if not any(word in one.text for one in self.files[path]):
            return
        self.later()
        command = f"sed -i 's/{word}/{new}/g' {path}"
        self.record([("Bash", {"command": command})], "claude-code", id_)
        self.files[path] = [
            Line(one.text.replace(word, new), id_, "agent_runs_sed") if word in one.text else one
            for one in self.files[path]
        ]
        self.commit("sed")

    def person_inserts(self) -> None:
        path, who = self.some(), self.person()
        at = self.gap(self.files[path])
        self.files[path][at:at] = self.block(path, who, "person_inserts")
        self.commit("by hand", who)

    def person_changes(self) -> None:
        self.commit("before")
        path, who = self.some(), self.person()
        lines = self.files[path]
        at = self.rng.choice([at for at, one in enumerate(lines) if len(one.text) > 20])
        number = self.rng.randint(1000, 9999)
        old = lines[at]
        text = re.sub(r"\b\d{1,3}\b", str(number), old.text)
        text = text if text != old.text else re.sub(r"(\w+)(\W*)$", rf"\1_{number}\2", old.text)
        was = old.author if old.author not in PEOPLE else old.was
        lines[at] = Line(text, who, "person_changes", was)
        self.commit("changed by hand", who)

    def person_deletes(self) -> None:
        path = self.some(20)
        lines = self.files[path]
        at = self.rng.randrange(len(lines) - 3)
        del lines[at : at + 2]
        self.commit("deleted")

    def renames(self) -> None:
        self.commit("before the renaming")
        path = self.some()
        new = f"lib/{self.rng.choice(_NOUNS)}{self.now % 997}.{path.rpartition('.')[2]}"
        if new in self.files:
            return
        (self.folder / new).parent.mkdir(exist_ok=True)
        self.git("mv", path, new)
        self.files[new] = self.files.pop(path)
        if self.rng.random() < 0.5:
            at, who = self.gap(self.files[new]), self.person()
            self.files[new][at:at] = self.block(new, who, "renames")
            self.commit("rename and write", who)
        else:
            self.commit("rename")

    def renames_before_commit(self) -> None:
        """What an agent wrote is committed under another name."""
        self.agent_creates()
        path = list(self.files)[-1]
        new = f"tools/{self.rng.choice(_VERBS)}{self.now % 991}.{path.rpartition('.')[2]}"
        self.files[new] = [
            replace(one, how="renames_before_commit") for one in self.files.pop(path)
        ]
        self.commit("new name")

    def moves_block(self) -> None:
        self.commit("before the move")
        path, to = self.some(24), self.some()
        if path == to or path[-2:] != to[-2:]:
            return
        lines = self.files[path]
        ends = [at + 1 for at, one in enumerate(lines) if not one.text]
        if len(ends) < 3:
            return
        first = self.rng.randrange(len(ends) - 1)
        block = lines[ends[first] : ends[first + 1]]
        del lines[ends[first] : ends[first + 1]]
        at = self.gap(self.files[to])
        self.files[to][at:at] = [replace(one, how="moves_block") for one in block]
        self.commit("move")

    def reindents(self) -> None:
        self.commit("before the formatter")
        path = self.some()
        self.files[path] = [
            replace(one, text=re.sub(r"^( +)", lambda lead: lead[1] * 2, one.text), how="reindents")
            if one.text.startswith(" ") and len(one.text) < 90
            else one
            for one in self.files[path]
        ]
        self.commit("reindent")

    def formats(self) -> None:
        """A formatter changes quotes, joins and splits lines."""
        if self.rng.random() < 0.5:
            self.commit("before the formatter")
        for path in list(self.files)[:4]:
            self.files[path] = formatted(self.files[path])
        self.commit("format")

    def branch(self) -> None:
        """Work on a branch, other work on the main line, and one of the ways to bring it in."""
        how = self.rng.choice(("merges", "squashes", "rebases", "picks"))
        self.commit("before the branch")
        base = {path: list(lines) for path, lines in self.files.items()}
        self.git("checkout", "-q", "-b", "work")
        started = self.now
        shared = self.some()
        for _ in range(self.rng.randint(1, 3)):
            self.rng.choice((self.agent_inserts, self.agent_creates, self.person_inserts))()
            self.commit("on the branch")
        end = self.block(shared, id_ := self.new_turn(), how)
        self.agent(shared, self.files[shared] + end, id_)
        self.commit("at the end")
        mine = self.files
        self.files = {path: list(lines) for path, lines in base.items()}
        self.git("checkout", "-q", "main")
        ended, self.now = self.now, started + 30
        quiet = [path for path in self.files if mine[path] == base[path]]
        for path in self.rng.sample(quiet, min(2, len(quiet))):
            at, who = self.gap(self.files[path]), self.person()
            self.files[path][at:at] = self.block(path, who, how)
            self.commit("meanwhile", who)
        who = self.person()
        top = self.block(shared, who, how)
        self.files[shared] = top + self.files[shared]
        self.commit("at the top", who)
        self.now = max(self.now, ended) + 600
        for path, lines in mine.items():
            if path == shared:
                self.files[path] = top + lines
            elif lines != base.get(path):
                self.files[path] = lines
        if how == "merges":
            self.git("merge", "-q", "--no-ff", "-m", "merge", "work")
        elif how == "squashes":
            self.git("merge", "-q", "--squash", "work")
            self.git("commit", "-q", "-m", "squash")
            old = {id(one) for lines in base.values() for one in lines}
            new = {id(one) for lines in mine.values() for one in lines} - old
            for path in mine:  # whose they were before, git does not say
                self.files[path] = [
                    replace(one, author="Ada") if one.author in PEOPLE and id(one) in new else one
                    for one in self.files[path]
                ]
        elif how == "rebases":
            self.git("rebase", "-q", "main", "work")
            self.git("checkout", "-q", "main")
            self.git("merge", "-q", "--ff-only", "work")
        else:
            self.git("cherry-pick", "--allow-empty", "main..work")
        self.git("branch", "-q", "-D", "work")
        self.done[how] += 1

    def amends(self) -> None:
        self.commit("before the amendment")
        self.agent_inserts()
        self.later(600)
        self.write()
        self.git("add", "-A")
        self.git("commit", "-q", "--amend", "-m", "amended")

    def reverts(self) -> None:
        self.commit("before the reversal")
        kept = {path: list(lines) for path, lines in self.files.items()}
        self.agent_inserts()
        self.commit("to be reverted")
        self.later(600)
        self.git("revert", "--no-edit", "HEAD")
        self.files = kept

    def little_files(self, number: int) -> World:
        """So many files of a few short lines, that an agent and a person change in turns before
        they are committed, and after it."""
        for file in range(number):
            path, id_ = f"little/f{file}.txt", self.new_turn()
            self.away = False
            texts = self.rng.sample(_LITTLE, self.rng.randint(2, 8))
            self.agent(path, [Line(one, id_, "agent_little") for one in texts], id_)
            for _ in range(self.rng.randint(0, 4)):
                id_ = id_ if self.rng.random() < 0.5 else self.new_turn()
                change = self.rng.choice((self._part, self._part, self._person_beside))
                change(path, id_)
                if self.rng.random() < 0.3:
                    self.commit("so far", "Ada")
                    self.away = False
            if self.rng.random() < 0.6:
                self.commit("little", "Ada")
        self.commit("last", "Ada")
        return self

    def _part(self, path: str, id_: str) -> None:
        """An agent replaces a word of its lines, or puts a line before one."""
        lines = self.files[path]
        text = "\n".join(one.text for one in lines)
        at, old = self.rng.choice(
            [
                (at, word)
                for at, one in enumerate(lines)
                for word in re.findall(r"\w+", one.text)
                if text.count(word) == 1 and one.author not in PEOPLE
            ]
            or [(0, "")]
        )
        if not old:
            return
        new = old + self.rng.choice(("s", "_new", ", b", "\nlog(here)"))
        self.later()
        given = {"file_path": "{folder}/" + path, "old_string": old, "new_string": new}
        self.record([("Edit", given)], "claude-code", id_)
        was = lines[at]
        lines[at : at + 1] = [
            was if one == was.text else Line(one, id_, "agent_part")
            for one in was.text.replace(old, new).split("\n")
        ]

    def _person_beside(self, path: str, _: str) -> None:
        """A person changes a line, or puts one before it, and does not commit it yet."""
        lines = self.files[path]
        at = self.rng.randrange(len(lines))
        if self.rng.random() < 0.5:
            lines[at] = Line(f"{lines[at].text} # {self.rng.randint(10, 99)}", "Ada", "person")
        else:
            lines.insert(
                at, Line(self.rng.choice(("k = 9", "assert y", "# later")), "Ada", "person")
            )

    def goes_on(self, number: int = 18) -> World:
        """So many operations, at random."""
        operations: list[Callable[[], None]] = [
            *(self.agent_creates, self.agent_inserts, self.agent_inserts, self.agent_changes),
            *(self.agent_renames_a_word, self.agent_runs_sed, self.person_inserts),
            *(self.person_inserts, self.person_changes, self.person_changes, self.person_deletes),
            *(self.renames, self.renames_before_commit, self.moves_block, self.reindents),
            *(self.formats, self.branch, self.branch, self.amends, self.reverts),
        ]
        self.agent_creates()
        for _ in range(number):
            operation = self.rng.choice(operations)
            operation()
            self.done[operation.__name__] += 1
        self.commit("last")
        for path, lines in self.files.items():
            assert (self.folder / path).read_text().splitlines() == [one.text for one in lines]
        return self


def changed_region(old: list[str], new: list[str]) -> tuple[list[str], list[str]]:
    """What is replaced by what, with lines around it until that stands once in the old text."""
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    text = "\n" + "\n".join(old) + "\n"
    while True:
        region = old[start : len(old) - end]
        if region and text.count("\n" + "\n".join(region) + "\n") == 1:
            return region, new[start : len(new) - end]
        if start == 0 and end == 0:
            return region, new
        start, end = max(start - 1, 0), max(end - 1, 0)


def formatted(lines: Sequence[Line]) -> list[Line]:
    """Lines as a formatter would have them: its own quotes, long calls divided, short ones not."""
    made: list[Line] = []
    for one in lines:
        text = one.text.replace("'", '"')
        call = re.fullmatch(r"( *)([\w .=]+)\((\w+), (.+), ([\w=]+)\)(;?)", text)
        if call is not None:
            lead, name, *given, end = call.groups()
            texts = [f"{lead}{name}(", *(f"{lead}    {one}," for one in given), f"{lead}){end}"]
            made.extend(replace(one, text=text, how="formats") for text in texts)
        else:
            made.append(replace(one, text=text, how="formats") if text != one.text else one)
    return made
