"""A misspelt keyword is not lost in silence."""

from __future__ import annotations

from typing import Any, cast

import pytest

import turnspan
from turnspan.turn.turn import Turn

session = cast("Any", turnspan.session)
agent = cast("Any", turnspan.agent)
tool = cast("Any", turnspan.tool)


def test_a_near_miss_is_told_once_with_the_name(caplog: pytest.LogCaptureFixture) -> None:
    turn = Turn("1" * 16)
    for _ in range(2):
        session("s", userid="ada", tier="gold")
        session("s", user_Id="ada")
        turn.set(intnt="buy", chatmode="x", usermessage="hi", color="red")
    told = [record.getMessage().split(": ", 1) for record in caplog.records]
    assert [one[0].split()[-1] for one in told] == [
        *("'userid'", "'user_Id'", "'intnt'", "'chatmode'", "'usermessage'"),
    ]
    assert [one[1].split()[-2] for one in told] == [
        *("'user_id'", "'user_id'", "'intent'", "'chat_mode'", "'user_message'"),
    ]
    assert turn.attributes["intnt"] == "buy"


def test_what_cannot_mean_anything_names_the_public_name() -> None:
    def work() -> None: ...

    with pytest.raises(TypeError, match=r"@turnspan\.session\("):
        session(work)
    with pytest.raises(TypeError, match=r"turnspan\.agent has no argument 'max_round'.*max_rounds"):
        agent(max_round=3)
    with pytest.raises(TypeError, match=r"turnspan\.tool has no argument 'args'.*arguments"):
        tool("look", args={})
