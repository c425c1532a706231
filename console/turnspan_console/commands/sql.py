"""``turnspan sql``: any query, on records that are each there once."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from turnspan_console.failures import FINDING, USAGE, Failure, failing
from turnspan_console.options import (
    FORMATS,
    flag,
    format_option,
    open_chosen,
    optional,
    raw_option,
    several,
    store_option,
)
from turnspan_console.output import Output, note, tell
from turnspan_console.values import counted

if TYPE_CHECKING:
    from turnspan_clickhouse.store.client import Result, Store

_READS = frozenset({"select", "with", "show", "describe", "desc", "explain", "exists"})
_COMMENTS = re.compile(r"\A(?:\s+|--[^\n]*(?:\n|\Z)|#![^\n]*(?:\n|\Z)|/\*.*?\*/)+", re.DOTALL)
_OWN_FORMAT = re.compile(r"\bFORMAT\s+(\w+)\s*;?\s*\Z", re.IGNORECASE)
_REMEDIES = {"files": "--local-files", "write": "--write"}
_OPENED = {
    "write": "--write runs the statement with all rights of the store's user: it may change or "
    "delete records, read and write files and ask any address.",
    "files": "--local-files lets the query read and write files and ask any address; the records "
    "are not changed.",
}


@click.command("sql", short_help="Run SQL on the records.")
@click.argument("query", metavar="[SQL]", required=False)
@click.option(
    "--saved",
    is_flag=False,
    flag_value="",
    metavar="[NAME]",
    help="Run the statement saved under this name; without a name, list the saved statements.",
)
@optional("--save", "NAME", "Save the statement under a name, and stop.")
@optional("--delete-saved", "NAME", "Delete a saved statement, and stop.")
@several("--param", "NAME=VALUE", "A value for {NAME:Type} in the SQL. Repeatable.", "params")
@flag(
    "--local-files",
    "Allow the query to read and write files (INTO OUTFILE, file()), read any address (url()) "
    "and other databases, and change SETTINGS. It cannot change records.",
    "files",
)
@flag(
    "--write",
    "Run any statement with all rights of the store's user. It may change or delete records, "
    "and use files and addresses as with --local-files.",
)
@format_option(*FORMATS)
@raw_option
@store_option
def command(
    query: str | None,
    saved: str | None,
    save: str | None,
    delete_saved: str | None,
    params: tuple[str, ...],
    files: bool,
    write: bool,
    format_: str,
    raw: bool,
) -> None:
    """Run SQL on the records; `-` reads it from standard input.

    A query sees each record once, in its newest state, without FINAL. The main tables are llm_call,
    turn_summary, tool_call, message, definition, span, context_assembly, context_item and
    annotation. Only one reading statement runs, and it touches no file or address, unless you give
    --local-files or --write.

    \b
      turnspan sql "SELECT stop_reason, count() FROM turn_summary GROUP BY 1"
      turnspan sql --param s=thread-7 "SELECT * FROM llm_call WHERE session_id = {s:String}"
      turnspan sql - --format csv < report.sql
      turnspan sql --local-files "SELECT * FROM tool_call INTO OUTFILE 'tools.parquet'"
      turnspan sql --save stops "SELECT stop_reason, count() FROM turn_summary GROUP BY 1"
      turnspan sql --saved stops

    Saved statements belong to you; `turnspan console` shows them too.
    """
    from turnspan_console.saved_texts import QUERIES, SavedTextError

    if sum(one is not None for one in (save, saved, delete_saved)) > 1 or (
        query is not None and (saved or delete_saved)
    ):
        raise Failure("Give either SQL (with or without --save NAME) or a saved statement.", USAGE)
    with failing(SavedTextError, code=USAGE):
        if delete_saved is not None:
            QUERIES.delete(delete_saved)
            note("deleted")
            return
        if saved == "" and query is None:
            _list(QUERIES.all(), format_, raw=raw)
            return
        text = sys.stdin.read() if query == "-" else query or ""
        sql = _statement(QUERIES.text(saved) if saved else text, own_format=files or write)
        if save is not None:
            QUERIES.save(save, sql)
            note(f"saved: turnspan sql --saved {shlex.quote(save)}")
            return
    parameters = dict(_parameter(text) for text in params)
    with open_chosen(create=write) as store:
        if write:
            note(_OPENED["write"])
            result = _changed(store, sql, parameters)
        else:
            result = _read(store, sql, parameters, files=files)
        if result is None or not (result.names or format_ == "json"):
            note("done")
            return
        _print(result, format_, raw=raw)


def _list(saved: Mapping[str, str], format_: str, *, raw: bool) -> None:
    from turnspan_clickhouse.store.client import Result

    rows = list(saved.items())
    if rows or format_ != "table":
        _print(Result(("name", "sql"), ("String", "String"), rows), format_, raw=raw)
    if not rows:
        note('nothing is saved: turnspan sql --save NAME "SELECT ..."')
        raise click.exceptions.Exit(FINDING)


def _changed(store: Store, sql: str, parameters: Mapping[str, Any]) -> Result | None:
    from turnspan_clickhouse.errors import READONLY, QueryError

    if _first_word(sql) in _READS:
        try:
            return store.query(sql, parameters)
        except QueryError as error:
            if error.code != READONLY:  # WITH may begin an INSERT as well
                raise
    store.command(sql, parameters)
    return None


def _read(store: Store, sql: str, parameters: Mapping[str, Any], *, files: bool) -> Result:
    from turnspan_records.sandbox import RefusedError, Sandbox

    with Sandbox(store, files=files) as sandbox:
        if files:
            note(_OPENED["files"])
        if sys.stderr.isatty():
            for warning in sandbox.warnings():
                note(warning)
        try:
            return sandbox.query(sql, parameters)
        except RefusedError as error:
            remedy = _REMEDIES.get(error.needs)
            told = f"{error}; {remedy} would allow it." if remedy else f"{error}."
            raise Failure(told, USAGE) from None


def _print(result: Result, format_: str, *, raw: bool) -> None:
    from turnspan_console.panels.results import print_result

    output = Output()
    print_result(result, format_, output, exact=True, raw=raw)
    if format_ == "table" and output.terminal:
        tell(counted(len(result.rows), "row"), dim=True)


def _statement(text: str, *, own_format: bool) -> str:
    sql = text.strip().rstrip(";").rstrip()
    if not sql:
        raise Failure("There is no SQL to run: give it as an argument, or - to read it.", USAGE)
    own = _OWN_FORMAT.search(sql)
    if own and not (own_format and re.search(r"\bOUTFILE\b", sql, re.IGNORECASE)):
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
