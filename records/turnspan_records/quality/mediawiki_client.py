"""A client of MediaWiki's own API: asking with continuation, reading a page, writing a page.

It waits as the wiki asks it to (``maxlag``, ``Retry-After``), tries again what failed on the way,
and takes no answer of any size. A name and a password are sent to the API's own address alone, and
never shown: not in an error, not in a ``repr``.
"""

from __future__ import annotations

import json
import os
import random
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, cast

from turnspan_records.quality.http import HttpAnswer, HttpError, HttpSession

USER: Final = "TURNSPAN_MEDIAWIKI_USER"
"""The name of a wiki's bot, unless ``--credentials`` names a file."""
PASSWORD: Final = "TURNSPAN_MEDIAWIKI_PASSWORD"
"""The bot's password."""

TRIES: Final = 6
LONGEST_WAIT: Final = 120.0
"""Seconds: a wiki that asks for more is not waited for."""
MAXLAG: Final = 5
"""Seconds that the wiki's databases may be behind; a bot waits when they are further behind."""
_SHORT: Final = 1_500
"""Bytes of parameters that go into the address; more are posted."""
_AGAIN: Final = frozenset({"maxlag", "ratelimited", "readonly", "internal_api_error_DBQueryError"})
_UNSURE: Final = "assertuserfailed"


class WikiError(Exception):
    """The wiki did not answer, or refused; the message says what to do about it."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code
        """The API's own word for it, where it has one."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A bot's name (``Account@purpose``) and its bot password."""

    name: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class WikiPage:
    """A page as it is now."""

    title: str
    revision: int
    text: str


@dataclass(frozen=True, slots=True)
class Edited:
    """What came of writing a page."""

    title: str
    revision: int
    """The revision that has the text: a new one, or the one that had it already."""
    changed: bool


def credentials(file: Path | None = None) -> Credentials | None:
    """The name and the password of a bot: of a JSON file (``{"user": ..., "password": ...}``), or
    of the environment; ``None`` where there are none.

    Raises:
        ValueError: the file cannot be read, or has no such object; or only one of the two is there.
    """
    if file is None:
        name, password = os.environ.get(USER, ""), os.environ.get(PASSWORD, "")
        where = f"{USER} and {PASSWORD}"
    else:
        try:
            read: Any = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            # Not what the JSON's error quotes: it may be the password.
            raise ValueError(f"{file} cannot be read: {type(error).__name__}") from None
        said: Mapping[str, Any] = cast("Any", read) if isinstance(read, dict) else {}
        name, password = str(said.get("user", "")), str(said.get("password", ""))
        where = f'"user" and "password" in {file}'
        if not name and not password:
            raise ValueError(f"there is no {where}")
    if bool(name) != bool(password):
        raise ValueError(f"a login needs both {where}")
    return Credentials(name, password) if name else None


class MediaWiki:
    """One wiki, by the address of its API (``https://.../api.php``).

    Args:
        api: the address, without a name or a password in it.
        credentials: of a bot, for a private wiki and for writing; the login is made when first
            something is asked.
        contact: who can be asked about this bot, an address or a page; goes into the user agent.
        timeout: seconds for one answer.
        wait: waits so many seconds; other than ``time.sleep`` in tests.
    """

    def __init__(
        self,
        api: str,
        credentials: Credentials | None = None,
        *,
        contact: str = "",
        timeout: float = 30.0,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._http = HttpSession(api, contact=contact, timeout=timeout)
        self._credentials = credentials
        self._wait = wait
        self._token = ""
        self.api: str = self._http.address
        """The address, as it names the wiki."""
        self.user = ""
        """Who is logged in."""

    def ask(self, **parameters: Any) -> dict[str, Any]:
        """One answer of the API. Lists become values of one parameter, ``None`` is left out.

        Raises:
            WikiError: the wiki did not answer, or refused.
        """
        self._log_in()
        try:
            return self._ask(parameters)
        except WikiError as error:
            if error.code != _UNSURE:
                raise
        self.user = ""  # the session ended: once more, as nobody that the wiki still knows
        self._http.forget()
        self._log_in()
        return self._ask(parameters)

    def answers(self, **parameters: Any) -> Iterator[dict[str, Any]]:
        """All answers of a query, as the API continues it. Raises as ``ask``."""
        continued: Mapping[str, Any] = {}
        while True:
            answer = self.ask(**{**parameters, **continued})
            yield answer
            following = answer.get("continue")
            if not following or following == continued:
                return
            continued = following

    def page(self, title: str) -> WikiPage | None:
        """A page as it is now, whatever is written in it; ``None`` where there is none. Redirects
        are pages like others.

        Raises:
            WikiError: as ``ask``.
        """
        answer = self.ask(
            action="query",
            prop="revisions",
            titles=[title],
            rvprop=["ids", "content"],
            rvslots="main",
        )
        for found in pages_of(answer):
            for revision in found.get("revisions", ()):
                text = content_of(revision)
                if text is not None:
                    return WikiPage(found["title"], revision["revid"], text)
        return None

    def edit(self, title: str, text: str, *, summary: str = "", base: int | None = None) -> Edited:
        """Write a page, all of it. Written twice, the second time changes nothing.

        Args:
            title: its full name; one that is not there is made.
            text: what is to be there.
            summary: what is said of it in its history.
            base: the revision that was read before: if somebody wrote since, nothing is written.

        Raises:
            WikiError: as ``ask``; ``code`` is ``editconflict`` where somebody wrote since.
        """
        now = self.page(title)
        if now is not None and now.text == normal(text):
            return Edited(now.title, now.revision, False)
        # Tried again after a broken connection, the same text is no second revision.
        done = self.act(
            action="edit",
            title=title,
            text=text,
            summary=summary or None,
            baserevid=base,
            bot=True,
        )["edit"]
        if done.get("result") != "Success":
            raise WikiError(f"{self.api} did not take the page: {done.get('code', 'refused')}.")
        if done.get("nochange"):
            now = self.page(title)
            return Edited(done["title"], now.revision if now else 0, False)
        return Edited(done["title"], int(done["newrevid"]), True)

    def act(self, **parameters: Any) -> dict[str, Any]:
        """One answer of the API to what changes the wiki: with the token that this takes.

        It may be sent twice where the first answer is lost: only what can be done twice is asked
        for so. Raises as ``ask``.
        """
        try:
            return self.ask(**parameters, token=self._write_token())
        except WikiError as error:
            if error.code != "badtoken":
                raise
        self._token = ""  # it was of a session that ended
        return self.ask(**parameters, token=self._write_token())

    def _write_token(self) -> str:
        if not self._token:
            told = self.ask(action="query", meta="tokens", type="csrf")
            self._token = str(told["query"]["tokens"]["csrftoken"])
        return self._token

    def _log_in(self) -> None:
        if self._credentials is None or self.user:
            return
        tokens = self._ask({"action": "query", "meta": "tokens", "type": "login"})
        answer = self._ask(
            {
                "action": "login",
                "lgname": self._credentials.name,
                "lgpassword": self._credentials.password,
                "lgtoken": tokens["query"]["tokens"]["logintoken"],
            }
        )["login"]
        if answer.get("result") != "Success":
            raise WikiError(
                f"{self.api} did not let the bot in: {answer.get('result', 'refused')}. Make a bot "
                "password with the right to read pages (Special:BotPasswords).",
                "login",
            )
        self._token = ""
        self.user = str(answer["lgusername"])

    def _ask(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """One answer, tried several times."""
        sent = _as_text(parameters)
        sent.update(format="json", formatversion="2", maxlag=str(MAXLAG))
        if self.user:
            sent["assert"] = "user"
        for tried in range(1, TRIES + 1):
            pause: float | None
            try:
                answer = self._send(sent)
                read, pause = self._read(answer)
                if read is not None:
                    return read
                why = "it asks to be asked later"
            except HttpError as error:
                if not error.passing:
                    raise WikiError(f"{self.api} {error}") from None
                why, pause = str(error), error.retry_after
            if tried == TRIES or (pause is not None and pause > LONGEST_WAIT):
                raise WikiError(f"{self.api} did not answer: {why}.")
            self._wait(pause if pause is not None else 2 ** (tried - 1) * random.uniform(0.5, 1.0))
        raise AssertionError("unreachable")

    def _send(self, sent: Mapping[str, str]) -> HttpAnswer:
        writes = sent["action"] == "login" or "token" in sent
        short = sum(len(key) + len(value) for key, value in sent.items()) < _SHORT
        return self._http.send(sent, post=writes or not short, writes=writes)

    def _read(self, answer: HttpAnswer) -> tuple[dict[str, Any] | None, float | None]:
        """What was answered; else how long to wait, where the wiki says so."""
        try:
            read: Any = json.loads(answer.body)
        except ValueError:
            read = None
        if not isinstance(read, dict):
            raise WikiError(f"{self.api} is not the API of a MediaWiki: give that of its api.php.")
        said = cast("dict[str, Any]", read)
        error = said.get("error")
        if not isinstance(error, dict):
            return said, None
        told = cast("dict[str, Any]", error)
        code = str(told.get("code", ""))
        if code in _AGAIN:
            return None, answer.retry_after
        if code == "readapidenied":
            raise WikiError(
                f"{self.api} is private: log in with a bot password ({USER} and {PASSWORD}).", code
            )
        raise WikiError(f"{self.api} refused: {told.get('info', code)}", code)


def pages_of(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The pages of an answer to a query."""
    return list(answer.get("query", {}).get("pages", ()))


def content_of(revision: Mapping[str, Any]) -> str | None:
    """The text of a revision's main slot; ``None`` where it is hidden or was not asked for."""
    content = revision.get("slots", {}).get("main", {}).get("content")
    return None if content is None else str(content)


def normal(text: str) -> str:
    """A text as a wiki stores it: in NFC, with line feeds, without blanks at the end."""
    unix = text.replace("\r\n", "\n").replace("\r", "\n")
    return unicodedata.normalize("NFC", unix).rstrip(" \t\n\x00\x0b")


def _as_text(parameters: Mapping[str, Any]) -> dict[str, str]:
    """Parameters as the API takes them: what is false is left out, lists are joined."""
    sent: dict[str, str] = {}
    for key, value in parameters.items():
        if value is None or value is False:
            continue
        if isinstance(value, (list, tuple)):
            sent[key] = _joined([str(one) for one in cast("Sequence[Any]", value)])
        else:
            sent[key] = "1" if value is True else str(value)
    return sent


def _joined(values: Sequence[str]) -> str:
    """Several values as one; with the API's other mark where one of them has the usual one."""
    if any("|" in one for one in values):
        return "\x1f" + "\x1f".join(values)
    return "|".join(values)
