"""``turnspan doctor``: what is wrong, and how to mend it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from turnspan_console.failures import FINDING, Failure
from turnspan_console.options import flag, format_option, store_option, store_text
from turnspan_console.output import Output
from turnspan_console.values import counted

if TYPE_CHECKING:
    from turnspan_console.checks.check import Check


@click.command("doctor", short_help="Show what is wrong and how to fix it.")
@flag("--problems", "Show only problems.")
@flag("--prove", "Have each installed client ask a model on this machine.")
@format_option("text", "json")
@store_option
def command(problems: bool, prove: bool, format_: str) -> None:
    """Check the store, the spool and the application's environment. It changes nothing.

    Run it where the application runs, with the same environment. Exit code 1 if a check fails.

    \b
      turnspan doctor --problems
      turnspan doctor --prove
    """
    from turnspan_console.panels.verdict import print_checks

    found = [one for one in _checks(prove=prove) if one.level != "ok" or not problems]
    Output().answer(found, format_, print_checks)
    failed = sum(one.level == "fail" for one in found)
    if failed:
        raise Failure(f"{counted(failed, 'check')} failed.", FINDING)


def _checks(*, prove: bool) -> Iterator[Check]:
    from turnspan_clickhouse.errors import StoreError
    from turnspan_clickhouse.store.dsn import for_recording, parse
    from turnspan_console.checks.check import FAIL, WARN, Check, guarded
    from turnspan_console.checks.environment import environment_checks
    from turnspan_console.checks.hooks import hook_checks
    from turnspan_console.checks.instrumentation import instrumentation_checks, unrecorded_checks
    from turnspan_console.checks.spool import receiver_checks, spool_checks
    from turnspan_console.checks.store import store_checks

    try:
        dsn = parse(store_text())
    except StoreError as error:
        remedy = str(error)
        with contextlib.suppress(StoreError):
            if store_text() is None:  # where the application's records are meanwhile
                remedy = for_recording()[1]
        yield Check("store", "address", FAIL, "TURNSPAN_STORE or --store cannot be used", remedy)
    else:
        wrong = "" if store_text() is not None else for_recording()[1]
        if wrong:
            yield Check("store", "address", WARN, "records may not last", wrong)
        yield from guarded("store", "checks", lambda: store_checks(dsn))
        yield from guarded("spool", "checks", lambda: spool_checks(dsn))
        yield from guarded("receiver", "checks", lambda: receiver_checks(dsn.spool))
        yield from guarded("coding agents", "hooks", lambda: hook_checks(dsn))
        yield from guarded("application", "unrecorded calls", lambda: unrecorded_checks(dsn.spool))
    yield from guarded("application", "instrumentation", instrumentation_checks)
    yield from guarded("application", "checks", environment_checks)
    if prove:
        from turnspan_console.checks.proof import proof_checks

        yield from guarded("proof", "clients", proof_checks)
