"""Edits of agents that people corrected, for the pairs ``edits`` of ``turnspan export preference``.

Two kinds of evidence count. The tool recorded that the user changed the edit before accepting it
(Claude Code's ``userModified``). Or a later turn of the session edited the same lines again and its
prompt complains, or the first turn was judged ``modified`` or ``rejected``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from turnspan.content.model import as_dict
from turnspan_clickhouse.store.client import Store
from turnspan_records.access.fields import parsed
from turnspan_records.access.questions import ask
from turnspan_records.access.window import Window, window_parameters
from turnspan_records.coding.authorship.edits import EDITORS, FileChange, changes_of
from turnspan_records.training.edit_pairs import CorrectedEdit

_PAGE: Final = 5_000
_EDITORS: Final = sorted(EDITORS)
"""A command's arguments have no text of a file alone."""


_EditCall = tuple[Mapping[str, Any], dict[str, Any], FileChange]
"""A row, its arguments and the change that they are."""


def corrected_edits(
    store: Store, project: str = "", window: Window | None = None
) -> Iterator[CorrectedEdit]:
    """The corrected edits of a project (of all) and a time, in the order of their sessions.

    An edit counts if it changes one place of one file and its arguments have the new text whole: a
    patch does not. Raises ``StoreError`` as ``Store.query``.
    """
    rows = _rows(store, window_parameters(project, window, page=_PAGE, tools=_EDITORS))
    for _, session in groupby(rows, key=lambda row: (row["project"], row["session_id"])):
        earlier: list[_EditCall] = []
        for row in session:
            arguments = _object(row["arguments"])
            changes = changes_of(str(row["name"]), str(row["arguments"])) if arguments else []
            if len(changes) != 1 or changes[0].after is None:
                continue
            edit = (row, arguments, changes[0])
            beside = _object(row["beside"])
            if beside.get("userModified") is True and isinstance(beside.get("newString"), str):
                yield from _corrected(edit, beside["newString"])
                continue
            for one in reversed(earlier):
                if text := _edited_again(one, edit):
                    earlier.remove(one)
                    yield from _corrected(one, text, str(row["span_id"]))
                    break
            earlier.append(edit)


def _rows(store: Store, given: Mapping[str, object]) -> Iterator[Mapping[str, Any]]:
    after: tuple[str, str, int, str] = ("", "", 0, "")
    names = ("after_project", "after_session", "after_time", "after_span")
    while True:
        found = ask(store, "coding/edits", **given, **dict(zip(names, after, strict=True))).dicts()
        yield from found
        if len(found) < _PAGE:
            return
        last = found[-1]
        after = (last["project"], last["session_id"], last["at"], last["span_id"])


def _object(text: object) -> dict[str, Any]:
    return as_dict(parsed(str(text))) or {}


def _edited_again(one: _EditCall, later: _EditCall) -> str:
    """The text of an edit as a later turn left it; empty where the later edit is no correction."""
    (row, _, own), (later_row, _, change) = one, later
    before, after = change.before, change.after
    wanted = later_row["complains"] or row["refused"]
    elsewhere = own.path != change.path or row["turn_id"] == later_row["turn_id"]
    if elsewhere or not wanted or after is None:
        return ""
    if before is None:  # the whole file again
        return "\n".join(after) if own.before is None else ""
    text, old = "\n".join(own.after or ()), "\n".join(before)
    return text.replace(old, "\n".join(after)) if old and text.count(old) == 1 else ""


def _corrected(edit: _EditCall, text: str, *spans: str) -> Iterator[CorrectedEdit]:
    """The edit with another new text, where an argument is the new text."""
    row, arguments, change = edit
    new = "\n".join(change.after or ())
    for name, value in arguments.items():
        if value in (new, f"{new}\n") and text.rstrip("\n") != new:
            end = "\n" if value != new and not text.endswith("\n") else ""
            changed = {**arguments, name: text + end}
            found = (str(row["project"]), str(row["turn_id"]), str(row["call_id"]))
            yield CorrectedEdit(*found, changed, spans)
            return
