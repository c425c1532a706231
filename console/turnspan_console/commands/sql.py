"""``turnspan sql``: any query, on records that are each there once."""

from __future__ import annotations

import re
import sys

import click

from turnspan_console.failures import USAGE, Failure
from turnspan_console.options import FORMATS, format_option, open_chosen, store_option

_READS = frozenset({"select", "with", "show", "describe", "desc", "explain", "exists"})
_COMMENTS = re.compile(r"\A(?:\s+|--[^\n]*(?:\n|\Z)|#![^\n]*(?:\n|\Z)|/\*.*?\*/)+", re.DOTALL)
_OWN_FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*;?\s*\Z", re.IGNORECASE)
_READONLY = 164
_BATCHED = 2
"""``readonly`` that still allows a query its own settings."""


@click.command("sql", short_help="Run SQL on the records.")
@click.argument("query", metavar="SQL")
@click.option(
    "--param",
    "params",
    multiple=True,
    metavar="NAME=VALUE",
    help="A value for {NAME:Type} in the SQL; may be given several times.",
)
@click.option("--write", is_flag=True, help="Allow statements that change the store.")
@format_option(*FORMATS)
@store_option
def command(query: str, params: tuple[str, ...], write: bool, format_: str) -> None:
    """Run SQL on the records; `-` reads it from standard input.

    Every record is seen once and in its newest state: FINAL is not needed. The tables are llm_call,
    turn_summary, tool_call, message, definition, span and annotation. Nothing is changed unless
    --write is given.

    \b
      turnspan sql "SELECT stop_reason, count() FROM turn_summary GROUP BY 1"
      turnspan sql --param s=thread-7 "SELECT * FROM llm_call WHERE session_id = {s:String}"
      turnspan sql - --format csv < report.sql
    """
    from turnspan_clickhouse.errors import QueryError
    from turnspan_console.output import Output
    from turnspan_console.results import print_result

    sql = _statement(sys.stdin.read() if query == "-" else query)
    parameters = dict(_parameter(text) for text in params)
    reads = _first_word(sql) in _READS
    if not reads and not write:
        raise Failure(
            f"{_first_word(sql).upper() or 'This'} is not a reading statement: "
            "add --write if the store is to be changed.",
            USAGE,
        )
    with open_chosen() as store:
        if not reads:
            store.command(sql, parameters)
            click.echo("turnspan: done", err=True)
            return
        try:
            result = store.query(sql, parameters, None if write else {"readonly": _BATCHED})
        except QueryError as error:
            if error.code == _READONLY and not write:
                raise Failure(
                    f"The statement changes the store: add --write ({error}).", USAGE
                ) from None
            raise
        output = Output()
        print_result(result, format_, output, exact=True)
        if format_ == "table" and output.terminal:
            rows = len(result.rows)
            click.secho(f"{rows:,} row{'' if rows == 1 else 's'}", err=True, dim=True)


def _statement(text: str) -> str:
    sql = text.strip().rstrip(";").rstrip()
    if not sql:
        raise Failure("There is no SQL to run: give it as an argument, or - to read it.", USAGE)
    own = _OWN_FORMAT.search(sql)
    if own:
        raise Failure(
            f"Leave FORMAT {own[1]} out and say --format {'|'.join(FORMATS)} instead.", USAGE
        )
    return sql


def _first_word(sql: str) -> str:
    bare = _COMMENTS.sub("", sql).lstrip("( \n\t")
    word = re.match(r"\w+", bare)
    return word[0].lower() if word else ""


def _parameter(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise Failure(f"--param {text!r} is not NAME=VALUE.", USAGE)
    return name, value
