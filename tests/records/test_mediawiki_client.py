"""The client of MediaWiki's API, against a real wiki and through a front that fails."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.mediawiki import BOT_PASSWORD, PASSWORD, RealWiki
from support.wiki_front import Front, front
from turnspan import __version__
from turnspan_records.quality import http
from turnspan_records.quality.mediawiki_client import (
    Credentials,
    MediaWiki,
    WikiError,
    credentials,
    pages_of,
)

BOT = Credentials("Agent@trial", BOT_PASSWORD)


@pytest.fixture(scope="module")
def fronted(real_wiki: RealWiki) -> Iterator[Front]:
    with front(real_wiki.api) as made:
        yield made


class Waits(list[float]):
    """Remembers how long it was asked to wait, and does not."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


def through(
    fronted: Front, *faults: str, login: Credentials | None = None, timeout: float = 30
) -> tuple[MediaWiki, Waits]:
    fronted.faults.clear()
    fronted.faults.extend(faults)
    fronted.seen.clear()
    waits = Waits()
    return MediaWiki(
        fronted.api, login, contact="ops@example.org", timeout=timeout, wait=waits
    ), waits


def test_a_page_is_written_once(real_wiki: RealWiki) -> None:
    """The same text again is no new revision, also with blanks at its end; who read an older
    revision does not write over a newer one."""
    bot = MediaWiki(real_wiki.api, BOT)
    assert bot.page("Written once") is None
    first = bot.edit("Written once", "One.", summary="Begin")
    assert (first.changed, bot.page("Written once").text) == (True, "One.")  # type: ignore[union-attr]
    again = bot.edit("Written once", "One. \n\n")
    assert (again.changed, again.revision) == (False, first.revision)
    real_wiki.write("Ada", "Written once", "Two.")
    with pytest.raises(WikiError) as conflict:
        bot.edit("Written once", "Three.", base=first.revision)
    assert conflict.value.code == "editconflict"
    assert bot.user == "Agent"


def test_an_edit_whose_answer_is_lost_is_made_once(real_wiki: RealWiki, fronted: Front) -> None:
    """It is tried again, and MediaWiki sees that nothing changes."""
    bot, waits = through(fronted, *[""] * 4, "lost", login=BOT)
    done = bot.edit("Lost answer", "Text.")
    assert fronted.seen[4]["said"].startswith("action=edit")
    assert (len(waits), done.changed) == (1, False)
    answer = bot.ask(
        action="query", prop="revisions", titles="Lost answer", rvlimit=9, rvprop="ids"
    )
    assert len(pages_of(answer)[0]["revisions"]) == 1
    assert done.revision == pages_of(answer)[0]["revisions"][0]["revid"]


def test_a_private_wiki_takes_a_bot_password(real_wiki: RealWiki) -> None:
    """Without one it says what to do; every later request asserts the login."""
    real_wiki.write("Ada", "Private page", "Secret.")
    with pytest.raises(WikiError, match="is private: log in with a bot password"):
        MediaWiki(real_wiki.private_api).page("Private page")
    page = MediaWiki(real_wiki.private_api, BOT).page("Private page")
    assert page is not None and page.text == "Secret."
    wrong = MediaWiki(real_wiki.private_api, Credentials("Agent@trial", "wrong-password-1"))
    with pytest.raises(WikiError, match="did not let the bot in") as refused:
        wrong.page("Private page")
    assert "wrong-password-1" not in str(refused.value) + repr(wrong) + repr(BOT)


def test_a_session_that_ended_is_begun_anew(fronted: Front) -> None:
    """MediaWiki says so, since the login is asserted; the password is posted, never in an
    address."""
    bot, _ = through(fronted, login=BOT)
    assert bot.page("Main Page") is not None
    fronted.faults.append("forgotten")
    assert bot.page("Main Page") is not None
    posted = [one for one in fronted.seen if "lgpassword" in one["said"]]
    assert len(posted) == 2
    assert not any(BOT_PASSWORD in one["path"] for one in fronted.seen)


def test_a_wiki_that_lags_is_waited_for_as_it_asks(fronted: Front) -> None:
    """And so is one that is too busy, or breaks off."""
    bot, waits = through(fronted, "maxlag", "503", "429", "cut", "short")
    assert bot.page("Main Page") is not None
    assert (waits[:3], len(waits)) == ([3.0, 2.0, 2.0], 5)
    asked = urllib.parse.parse_qs(fronted.seen[0]["said"])
    assert asked["maxlag"] == ["5"]
    agent = fronted.seen[0]["headers"]["User-Agent"]
    assert agent == f"Turnspan/{__version__} (ops@example.org) bot"


@pytest.mark.parametrize(
    ("faults", "why"),
    [
        (["503"] * 6, "did not answer: answers with status 503"),
        (["maxlag"] * 6, "it asks to be asked later"),
        (["cut"] * 6, "cannot be reached"),
        (["hours"], "did not answer"),
        (["404"], "answers with status 404"),
        (["401"], "wants a login of its web server"),
        (["elsewhere"], "leads to http://127.0.0.1:9/api.php: give that address"),
        (["html"], "is not the API of a MediaWiki"),
    ],
)
def test_what_does_not_pass_is_said(fronted: Front, faults: list[str], why: str) -> None:
    """After six tries, or at once where waiting does not help."""
    bot, waits = through(fronted, *faults)
    with pytest.raises(WikiError, match=why):
        bot.page("Main Page")
    assert len(waits) == len(faults) - 1


def test_an_answer_has_a_size_and_a_time(fronted: Front, monkeypatch: pytest.MonkeyPatch) -> None:
    """More is refused."""
    monkeypatch.setattr(http, "LIMIT", 100)
    bot, waits = through(fronted)
    with pytest.raises(WikiError, match="answers with more than"):
        bot.page("Main Page")
    assert waits == []
    monkeypatch.undo()
    bot, waits = through(fronted, "slow", timeout=0.3)
    assert bot.page("Main Page") is not None
    assert len(waits) == 1


def test_answers_are_continued(real_wiki: RealWiki) -> None:
    """To the end, each page once; titles may have the mark in them that lists are joined with."""
    for number in range(3):
        real_wiki.write("Ada", "Continued", f"Number {number}.")
    wiki = MediaWiki(real_wiki.api)
    found: list[int] = []
    for answer in wiki.answers(
        action="query", prop="revisions", titles=["Continued"], rvlimit=1, rvprop="ids"
    ):
        found += [one["revid"] for page in pages_of(answer) for one in page["revisions"]]
    assert len(set(found)) == len(found) == 3
    odd = wiki.ask(action="query", titles=["Continued", "a|b"])
    assert sorted(bool(page.get("invalid")) for page in pages_of(odd)) == [False, True]


def test_where_the_name_and_the_password_come_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file, or the environment; half of them is an error, which does not quote the other."""
    for name in ("TURNSPAN_MEDIAWIKI_USER", "TURNSPAN_MEDIAWIKI_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    assert credentials() is None
    monkeypatch.setenv("TURNSPAN_MEDIAWIKI_USER", "A@b")
    with pytest.raises(ValueError, match="needs both"):
        credentials()
    monkeypatch.setenv("TURNSPAN_MEDIAWIKI_PASSWORD", PASSWORD)
    assert credentials() == Credentials("A@b", PASSWORD)
    file = tmp_path / "bot.json"
    file.write_text(json.dumps({"user": "C@d", "password": "e"}))
    assert credentials(file) == Credentials("C@d", "e")
    broken: list[tuple[str, str]] = [
        ('{"user": "C@d", "password": "top-secret"', "cannot be read"),
        ('{"password": "top-secret"}', "needs both"),
        ("[]", "there is no"),
    ]
    for text, why in broken:
        file.write_text(text)
        with pytest.raises(ValueError, match=why) as error:
            credentials(file)
        assert "top-secret" not in str(error.value)


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ftp://example.org/api.php", "is not an http or https address"),
        ("file:///etc/passwd", "is not an http or https address"),
        ("https://me:secret@example.org/api.php", "no name and no password"),
        ("api.php", "is not an http or https address"),
    ],
)
def test_what_is_no_address(address: str, why: str) -> None:
    """Is refused before anything is sent, without quoting a password."""
    with pytest.raises(ValueError, match=why) as error:
        MediaWiki(address)
    assert "secret" not in str(error.value)


def test_a_contact_is_one_line() -> None:
    """It goes into a header."""
    with pytest.raises(ValueError, match="one line"):
        MediaWiki("https://example.org/api.php", contact="a\r\nX-Evil: 1")
    made: Any = MediaWiki("https://example.org/w/api.php?action=query#x")
    assert made.api == "https://example.org/w/api.php"
