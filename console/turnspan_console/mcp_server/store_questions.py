"""From a tool's arguments to its answer.

Questions are answered one after the other, by a thread of their own. The store is opened with the
first and stays open: to open an embedded one for each would leave some of its engine behind each
time. Another process that waits for it gets it between two statements.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import click

from turnspan_clickhouse.errors import StoreError
from turnspan_clickhouse.store.client import Store
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.opening import SharedStore
from turnspan_console.mcp_server.answers import Cursor, ToolAnswer, answer, question_of, refusal
from turnspan_records.access import land_what_waits, open_dsn

WAIT: float = 10.0
"""Seconds to wait for another process that holds an embedded store."""


class RefusedQuestion(Exception):
    """A question that has no answer; its text says why, what was recorded between marks."""


class StoreQuestions:
    """Asks one store."""

    def __init__(self, dsn: Dsn) -> None:
        self._notes: list[str] = []
        self._shared = SharedStore(dsn, self._opened)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="turnspan-mcp")

    def ask(
        self, question: Callable[..., ToolAnswer], arguments: Mapping[str, Any], cursor: str
    ) -> str:
        """The answer to a question, from where a cursor goes on.

        Raises:
            RefusedQuestion: it has none.
        """
        return self._thread.submit(self._ask, question, arguments, cursor).result()

    def _ask(
        self, question: Callable[..., ToolAnswer], arguments: Mapping[str, Any], cursor: str
    ) -> str:
        self._notes.clear()
        try:
            named = question_of(question.__name__, arguments)
            place = Cursor.of(cursor, named)
            with self._shared.using() as store:
                land_what_waits(store, self._notes.append)
                said = question(store, place, **arguments)
        except click.ClickException as error:
            raise RefusedQuestion(refusal(error.format_message())) from None
        except (StoreError, ValueError) as error:
            raise RefusedQuestion(refusal(str(error))) from None
        except Exception as error:  # noqa: BLE001  its text would stand outside of the marks else
            raise RefusedQuestion(refusal(f"{type(error).__name__}: {error}")) from None
        told = "".join(f"note: {note}\n" for note in self._notes)
        return answer(ToolAnswer(said.about, told + said.recorded), place, named)

    def _opened(self, dsn: Dsn) -> Store:
        return open_dsn(dsn, wait=WAIT, note=self._notes.append)
