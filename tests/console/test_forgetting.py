"""``turnspan forget``: it shows, asks, and says what is left."""

from __future__ import annotations

from support.forgetting import canary, everything, session_of
from support.landing import insert
from support.rows import call
from support.story import Invoke
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store


def calls(dsn: Dsn) -> int:
    """How many model calls there are."""
    with open_store(dsn) as store:
        return int(store.query("SELECT count() FROM llm_call").rows[0][0])


def test_forget_shows_asks_and_proves(invoke: Invoke, embedded_dsn: Dsn) -> None:
    """A dry run and a refusal delete nothing; on a pipe nobody is asked."""
    with open_store(embedded_dsn) as store:
        migrate(store)
        insert(store, *everything("ada", user="ada@example.org"), *everything("bob"))
        insert(store, call("x", project="another", session_id=session_of("ada")))
    run = ("--store", str(embedded_dsn), "forget")

    assert invoke(*run).exit_code == 2
    assert invoke(*run, "--user", "").exit_code == 2
    assert invoke(*run, "--user", "a", "--session", "b").exit_code == 2
    nobody = invoke(*run, "--session", "nobody", "--yes")
    assert nobody.exit_code == 1
    assert "Nothing is recorded of session 'nobody'." in nobody.output
    both = invoke(*run, "--session", session_of("ada"), "--yes")
    assert both.exit_code == 2
    assert "in another, shop: say which with --project" in both.output
    dry = invoke(*run, "--user", "ada@example.org", "--dry-run")
    assert dry.exit_code == 0
    assert "turn_summary" in dry.output
    piped = invoke(*run, "--user", "ada@example.org")
    assert piped.exit_code == 2
    assert "say --yes" in piped.output
    assert calls(embedded_dsn) == 3

    done = invoke(*run, "--user", "ada@example.org", "--yes", "--text", canary("ada"))
    assert done.exit_code == 1  # the other project's session has the same id
    assert "column session_id of table llm_call" in done.output
    other = invoke(*run, "--session", session_of("ada"), "--project", "another", "--yes")
    assert other.exit_code == 0, other.output
    assert "1 rows forgotten" in other.output
    again = invoke(*run, "--again", "--text", canary("ada"))
    assert again.exit_code == 0, again.output
    assert "nothing is left" in again.output
    assert calls(embedded_dsn) == 1
