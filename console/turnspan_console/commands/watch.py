"""``turnspan watch``: ask a question again and again, and tell what has become too much; follow
coding agents."""

from __future__ import annotations

import shlex
import subprocess
import threading
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from turnspan_console.commands._coding_watch import coding
from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import (
    chosen_dsn,
    flag,
    optional,
    project_option,
    say_who_has_it,
    several,
    store_option,
    text_option,
    valued,
)
from turnspan_console.output import Output, note

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Result
    from turnspan_records.screens.alerts import Change, Condition, Watched

_PATIENCE: Final = 60.0
"""Seconds that a command, and that a webhook may take."""


_QUESTION: Final = "question"


class _Watches(click.Group):
    """What can be watched: a word that names no other command begins a question."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As given, with the command that a question leaves out."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [_QUESTION, *args]
        return super().parse_args(ctx, args)


@click.group(
    "watch",
    cls=_Watches,
    commands={coding.name or "": coding},
    short_help="Tell when a question finds too much, or follow coding agents.",
)
@store_option
def command() -> None:
    """Ask a diagnostic or a query again and again (`question`, which may be left out), or follow
    the transcripts of coding agents as they grow (`coding`).

    \b
      turnspan watch failing_tools --column failure_rate --above 0.2 --since 1h
      turnspan watch coding
    """


@command.command(_QUESTION, short_help="Tell when a diagnostic or a query finds too much.")
@click.argument("question", metavar="DIAGNOSTIC|SQL")
@optional("--above", "X", "Tell when a value is above this.", kind=float)
@optional("--below", "X", "Tell when a value is below this.", kind=float)
@text_option("--column", "NAME", "The column of values.  [default: the only one, else the rows]")
@several("--by", "COLUMN", "A column that says what a row is about. Repeatable.", "by")
@valued("--every", "5m", "How often to ask.", metavar="DURATION")
@optional("--since", "DURATION", "Only the records of so long: 1h, 7d.", "period")
@project_option
@optional("--run", "COMMAND", "Run this, with the alert as JSON on its standard input.", "program")
@optional("--webhook", "URL", "Send the alert to this address as JSON, by POST.")
@flag("--once", "Ask once; the exit code is 1 if anything is beyond the bound.")
@optional(
    "--grafana",
    "FILE",
    "Write the question as an alert rule of Grafana, and stop.",
    kind=click.Path(path_type=Path, dir_okay=False),
)
@store_option
def ask(
    question: str,
    above: float | None,
    below: float | None,
    every: str,
    period: str | None,
    program: str | None,
    webhook: str | None,
    once: bool,
    grafana: Path | None,
    **of: Any,
) -> None:
    """Ask DIAGNOSTIC or SQL every few minutes, and tell when a value passes a bound.

    Each thing is told once when it begins and once when it ends, also after a restart. An alert
    that cannot be delivered is tried again the next time. SQL may use {project:String},
    {since:DateTime64(9)} and {limit:UInt32}.

    \b
      turnspan watch failing_tools --column failure_rate --above 0.2 --since 1h --run ./page.sh
      turnspan watch question loops --above 0 --since 1d --webhook https://hooks.example.com/T0/B0
      turnspan watch "SELECT sum(cost_usd) FROM llm_call WHERE start_time > today()" --above 50
      turnspan watch errors_by_type --above 100 --grafana rules.yaml
    """
    from turnspan_records.access.window import duration
    from turnspan_records.screens.alerts import Condition

    if (above is None) == (below is None):
        raise Failure("Give a bound: --above X or --below X.", USAGE)
    if webhook is not None and not webhook.lower().startswith(("https://", "http://")):
        raise Failure(f"--webhook {webhook!r} is no http or https address.", USAGE)
    with failing(ValueError, code=USAGE):
        pause, past = duration(every), None if period is None else duration(period)
        words = shlex.split(program) if program is not None else []
    title, sql = _question(question)
    watch = _Watch(title, sql, Condition(above, below), past, words, webhook, **of)
    if grafana is not None:
        _write_rules(watch, grafana, pause)
        return
    watch.read_firing()
    ended = threading.Event()
    while True:
        firing = watch.ask_once(lenient=not once)
        if once:
            raise click.exceptions.Exit(FINDING if firing else 0)
        ended.wait(pause.total_seconds())


def _question(text: str) -> tuple[str, str]:
    from turnspan_records.diagnostics import find

    try:
        known = find(text)
    except KeyError:
        if " " not in text.strip():
            raise Failure(
                f"There is no diagnostic {text!r}: `turnspan diagnose --list` names them.", USAGE
            ) from None
        return " ".join(text.split())[:120], text.strip().rstrip(";")
    return known.title, known.sql


@dataclass
class _Watch:
    """A question with its bound, and whom to tell."""

    title: str
    sql: str
    condition: Condition
    period: timedelta | None
    program: Sequence[str]
    webhook: str | None
    column: str
    by: Sequence[str]
    project: str
    firing: dict[str, str] = field(default_factory=dict[str, str])
    """When each thing that is beyond the bound began, as it was told last."""
    output: Output = field(default_factory=Output)

    @property
    def id(self) -> str:
        """The same for the same question of the same store."""
        parts = (str(chosen_dsn()), self.sql, str(self.condition), self.column, *self.by)
        text = "\0".join((*parts, self.project, str(self.period)))
        return blake2b(text.encode(), digest_size=8).hexdigest()

    @property
    def _path(self) -> Path:
        from turnspan_clickhouse.store.dsn import data_folder

        return data_folder() / "watches" / f"{self.id}.json"

    def read_firing(self) -> None:
        """What was told of before this process began."""
        import orjson

        from turnspan.runtime.type_guards import is_dict

        try:
            known: Any = orjson.loads(self._path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return  # it is told again
        self.firing = {str(key): str(at) for key, at in known.items()} if is_dict(known) else {}

    def answer(self) -> tuple[Result, Watched]:
        """Ask, and see what is to be looked at."""
        from turnspan_clickhouse.store.interrupts import ended_by_interrupts
        from turnspan_records.access import open_dsn
        from turnspan_records.sandbox import RefusedError, Sandbox
        from turnspan_records.screens.alerts import asked, watched

        with (
            open_dsn(chosen_dsn(), note=note, waiting=say_who_has_it) as store,
            ended_by_interrupts(store),
            Sandbox(store) as sandbox,
            failing(RefusedError, code=USAGE),
        ):
            result = sandbox.query(self.sql, asked(self.project, self.period))
        with failing(ValueError, code=USAGE):
            return result, watched(result, self.column, self.by)

    def ask_once(self, *, lenient: bool) -> bool:
        """Ask and tell; whether anything is beyond the bound. ``lenient``: a store that cannot be
        asked is only noted."""
        from turnspan_clickhouse.errors import QueryError, StoreError
        from turnspan_records.screens.alerts import changes

        try:
            result, looked_at = self.answer()
        except StoreError as error:
            if not lenient or isinstance(error, QueryError):
                raise
            note(f"{error} It is asked again.")
            return False
        values = looked_at.values(result)
        made, firing = changes(self.firing, looked_at, self.condition, values)
        if not made or self._tell(made):
            self.firing = firing
            self._remember()
        return bool(firing)

    def _remember(self) -> None:
        import orjson

        from turnspan_clickhouse.files.atomic_files import private_folder, write_whole

        try:
            private_folder(self._path.parent)
            write_whole(self._path, orjson.dumps(self.firing))
        except OSError as error:
            note(f"{self._path} cannot be written ({error.strerror}): a restart tells it again.")

    def _tell(self, made: Sequence[Change]) -> bool:
        """Tell it; whether everybody got it."""
        import orjson

        lines = [self._line(change) for change in made]
        for line in lines:
            self.output.line(line)
        document = orjson.dumps(
            {
                "watch": self.title,
                "id": self.id,
                "condition": f"{self.column or 'rows'} {self.condition}",
                "text": "\n".join(lines),
                "alerts": made,
            }
        )
        delivered = [self._run(document)] if self.program else []
        delivered += [_post(self.webhook, document)] if self.webhook else []
        return all(delivered)

    def _line(self, change: Change) -> str:
        from turnspan_console.control_characters import visible

        labels = ", ".join(f"{name} {text}" for name, text in change.labels.items())
        what = f"{self.title}: {labels}" if labels else self.title
        value = "no more" if change.value is None else f"{change.value:g}"
        unit = self.column or "rows"
        return visible(f"{change.state}: {what}: {unit} {value} (bound {self.condition})")

    def _run(self, document: bytes) -> bool:
        try:
            done = subprocess.run(self.program, input=document, timeout=_PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            note(f"{self.program[0]} failed ({error}): the alert is tried again.")
            return False
        if done.returncode:
            note(f"{self.program[0]} ended with {done.returncode}: the alert is tried again.")
        return not done.returncode


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Another address would get the alert by GET, without its text."""

    def redirect_request(self, *arguments: Any, **named: Any) -> None:
        """Go nowhere: the redirect is an error."""


def _post(address: str, document: bytes) -> bool:
    request = urllib.request.Request(
        address, document, {"Content-Type": "application/json", "User-Agent": "turnspan-watch"}
    )
    try:
        with urllib.request.build_opener(_NoRedirect).open(request, timeout=_PATIENCE):
            return True
    except (OSError, ValueError) as error:
        note(f"the webhook failed ({error}): the alert is tried again.")
        return False


def _write_rules(watch: _Watch, file: Path, pause: timedelta) -> None:
    import orjson

    from turnspan_clickhouse.files.atomic_files import write_whole
    from turnspan_records.screens.alerts import grafana_rules

    _, looked_at = watch.answer()
    with failing(ValueError, OSError, code=USAGE):
        rules = grafana_rules(
            watch.title,
            watch.sql,
            looked_at,
            watch.condition,
            every=pause,
            project=watch.project,
            period=watch.period,
            uid=f"turnspan-{watch.id}",
        )
        # JSON is YAML, which Grafana reads its provisioned rules as.
        write_whole(file, orjson.dumps(rules, option=orjson.OPT_INDENT_2))
    note(f"written: copy {file} into Grafana's provisioning/alerting folder")
