"""The model that a row of ``llm_call`` counts under: one rule, in SQL, for all that group by it."""

from __future__ import annotations

from typing import Final

# An alias moves on, so what answered it on the same day goes first. Only what has calls without an
# answer is looked up, which are few, in the window that is asked about and the month before it.
_ANSWERS: Final = """(SELECT
            (arrayPushFront(groupArray(asked), ''), arrayPushFront(groupArray(answered), ''))
        FROM
        (
            SELECT
                concat(project, '\\n', toString(request_model), '\\n',
                    if(by_day, toString(toDate(start_time)), '')) AS asked,
                argMaxIf(toString(response_model), start_time, response_model != '') AS answered
            FROM llm_call ARRAY JOIN [true, false] AS by_day
            WHERE ({project:String} = '' OR project = {project:String})
                AND start_time >= {since:DateTime64(9, 'UTC')} - INTERVAL 30 DAY
                AND start_time < {until:DateTime64(9, 'UTC')}
            GROUP BY asked
            HAVING countIf(response_model = '') > 0 AND answered != ''
        ))"""
_ASKED: Final = "concat(project, '\\n', toString(request_model), '\\n'"


def _looked_up(key: str, otherwise: str) -> str:
    return f"transform({key}, {_ANSWERS}.1, {_ANSWERS}.2, {otherwise})"


_BY_NAME: Final = _looked_up(f"{_ASKED})", "toString(request_model)")
_BY_DAY: Final = _looked_up(f"{_ASKED}, toString(toDate(start_time)))", _BY_NAME)

MODEL: Final = f"if(response_model != '', toString(response_model), {_BY_DAY})"
"""The model that answered; of a call without an answer the one that last answered what was asked
for, on its day or else in the window and the month before it; else what was asked for. The query
has the parameters ``project``, ``since`` and ``until``."""
