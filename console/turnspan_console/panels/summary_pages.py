"""A session in short as a page: Markdown, or the text of a wiki's page.

A page depends on nothing but its session: made again, it is the same to the last byte. What was
recorded is text in it and nothing else: no markup, no link, no template.
"""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from turnspan_console import values
from turnspan_console.control_characters import json_text, visible
from turnspan_console.values import UNKNOWN, counted
from turnspan_records.keeping.summaries import JudgmentSummary, SessionSummary, SessionTurn

ASKED: Final = 240
"""How many characters of a question a page shows."""
_COLUMNS: Final = (
    *("#", "began", "asked", "ended", "rounds", "calls", "tools", "tokens", "cost", "judged"),
    "turn",
)
_MEMBERS: Final = (
    *("project", "session_id", "users", "agents", "models", "began", "ended", "nested", "calls"),
    *("tools", "tool_errors", "input_tokens", "output_tokens", "cost_usd", "targets", "verdict"),
    "turns",
)
"""What a line of JSON has of a session, in this order."""
_RENAMED: Final = {"nested": "nested_turns"}
_MARKDOWN: Final = re.compile(r"[\\`*_{}\[\]<>#|~&!$]")
_WIKI_SAFE: Final = re.compile(r"[^0-9A-Za-z .,;?()%$+\u00b7\u2026\u00a0-\uffff-]")
_TITLE: Final = re.compile(r"[^#<>\[\]{}|\x00-\x1f\x7f\ufffd]{1,200}")
_MAGIC: Final = re.compile(r"~~~|__|''")

Escape = Callable[[str], str]


class PageFormat(NamedTuple):
    """How pages are written."""

    write: Callable[[SessionSummary], str]
    suffix: str
    between: str = "\n"
    """What stands between two in one file."""


def markdown(session: SessionSummary) -> str:
    """The page in Markdown."""
    lines = [f"# Session {_markdown(session.session_id)}", ""]
    lines += [f"- **{name}**: {text}" for name, text in _facts(session, _markdown)]
    lines += [f"- **Wrote**: {_markdown(target)}" for target in session.targets]
    replay = f"turnspan replay {shlex.quote(visible(session.session_id))}"
    lines += [f"- **Replay**: {_code(replay)}", ""]
    lines += [_row(_COLUMNS), _row("---" for _ in _COLUMNS)]
    lines += [_row(_cells(n, turn, _markdown)) for n, turn in enumerate(session.turns, 1)]
    return "\n".join(lines) + "\n"


def wikitext(session: SessionSummary) -> str:
    """The page for a MediaWiki."""
    lines = [f"* '''session''': {_wiki(session.session_id)}"]
    lines += [f"* '''{name}''': {text}" for name, text in _facts(session, _wiki)]
    lines += [f"* '''wrote''': {_link(target)}" for target in session.targets]
    lines += ["", '{| class="wikitable"', "! " + " !! ".join(_COLUMNS)]
    for number, turn in enumerate(session.turns, 1):
        lines += ["|-", *(f"| {cell}" for cell in _cells(number, turn, _wiki))]
    return "\n".join([*lines, "|}", ""])


def json_line(session: SessionSummary) -> str:
    """The same for a program, on one line. Times are ISO 8601 in UTC, durations seconds."""
    value = {_RENAMED.get(name, name): getattr(session, name) for name in _MEMBERS}
    return json_text(json.dumps(value, ensure_ascii=False, default=_plain)) + "\n"


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _facts(session: SessionSummary, escape: Escape) -> Iterable[tuple[str, str]]:
    """What a page says before its table."""
    took = (session.ended - session.began).total_seconds()
    began, ended = values.moment(session.began), values.moment(session.ended)
    yield "project", escape(session.project)
    for name, many in (
        ("user", session.users),
        ("agent", session.agents),
        ("model", session.models),
    ):
        yield name, ", ".join(map(escape, many)) or "not known"
    yield "when", escape(f"{began} to {ended} UTC, {values.seconds(took)}")
    nested = f", and {session.nested:,} nested" if session.nested else ""
    failed = f", {session.tool_errors:,} failed" if session.tool_errors else ""
    yield "turns", f"{len(session.turns):,}{nested}"
    calls, tools = counted(session.calls, "model call"), counted(session.tools, "tool call")
    yield "work", f"{calls}, {tools}{failed}"
    cost = "cost not known" if session.cost_usd is None else values.dollars(session.cost_usd)
    tokens = _tokens(session.input_tokens, session.output_tokens)
    used = "tokens not known" if tokens == UNKNOWN else f"{tokens} tokens"
    yield "used", escape(f"{used}, {cost}")
    yield "ended", escape(_numbers(turn.ended or UNKNOWN for turn in session.turns))
    judged = [_verdict(turn.verdict) for turn in session.turns]
    yield "judged", escape(_numbers(one or "not judged" for one in judged))
    if said := _verdict(session.verdict):
        yield "session judged", escape(said)


def _numbers(words: Iterable[str]) -> str:
    """``2 completed, 1 error``; the most frequent first."""
    found = Counter(words)
    ordered = sorted(found.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{number:,} {word}" for word, number in ordered)


def _cells(number: int, turn: SessionTurn, escape: Escape) -> Iterable[str]:
    ended = turn.ended or UNKNOWN
    if turn.error_type:
        ended += f" ({turn.error_type})"
    elif turn.detail:
        ended += f" ({_cut(turn.detail)})"
    tools = f"{turn.tools:,}" + (f", {turn.tool_errors:,} failed" if turn.tool_errors else "")
    yield str(number)
    for text in (
        values.moment(turn.start_time),
        _cut(turn.asked) or "(not recorded)",
        ended,
        f"{turn.rounds:,}",
        f"{turn.calls:,}",
        tools,
        _tokens(turn.input_tokens, turn.output_tokens),
        UNKNOWN if turn.cost_usd is None else values.dollars(turn.cost_usd),
        _verdict(turn.verdict) or UNKNOWN,
        turn.turn_id,
    ):
        yield escape(text)


def _tokens(given: int | None, said: int | None) -> str:
    if given is None and said is None:
        return UNKNOWN
    return f"{given or 0:,} in, {said or 0:,} out"


def _verdict(verdict: JudgmentSummary) -> str:
    flag = {1: "good candidate", -1: "excluded"}.get(verdict.training_flag or 0, "")
    score = "" if verdict.score is None else f"score {verdict.score:g}"
    return ", ".join(part for part in (verdict.outcome, score, flag) if part)


def _cut(text: str) -> str:
    text = values.one_line(text)
    return text if len(text) <= ASKED else f"{text[: ASKED - 1]}…"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", values.one_line(text))


def _code(text: str) -> str:
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _wiki(text: str) -> str:
    """Every sign that could begin markup as a character reference, which a wiki shows and never
    reads."""
    return _WIKI_SAFE.sub(lambda found: f"&#{ord(found[0])};", values.one_line(text))


def _link(target: str) -> str:
    plain = _TITLE.fullmatch(target) and visible(target) == target
    return f"[[:{target}]]" if plain and not _MAGIC.search(target) else _wiki(target)


FORMATS: Final = {
    "markdown": PageFormat(markdown, ".md"),
    "wikitext": PageFormat(wikitext, ".wiki"),
    "jsonl": PageFormat(json_line, ".json", ""),
}
