"""Requests to one address: bounded in time and in size, with cookies, never led elsewhere."""

from __future__ import annotations

import email.utils
import http.client
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar
from typing import Any, Final

from turnspan import __version__

LIMIT: Final = 64 * 2**20
"""Bytes of an answer that are read; one that is larger is refused."""
_PIECE: Final = 65_536
_PASSING: Final = frozenset({408, 425, 429, 500, 502, 503, 504})


class HttpError(Exception):
    """What went wrong, as the end of a sentence about the address."""

    def __init__(self, why: str, *, passing: bool, retry_after: float | None = None) -> None:
        super().__init__(why)
        self.passing = passing
        """Whether it may work later."""
        self.retry_after = retry_after
        """After how many seconds, where that was said."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An answer that came whole."""

    body: bytes
    retry_after: float | None


class HttpSession:
    """Requests to one address with the cookies that it gave.

    Raises:
        ValueError: it is no http(s) address, or has a name and a password in it.
    """

    def __init__(self, address: str, *, contact: str = "", timeout: float = 30.0) -> None:
        parts = urllib.parse.urlsplit(address.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{address.split('@')[-1]!r} is not an http or https address")
        if parts.username is not None or parts.password is not None:
            raise ValueError("an address has no name and no password in it")
        self.address = urllib.parse.urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))
        """Without what follows the path."""
        self._timeout = timeout
        self._agent = user_agent(contact)
        self._cookies = CookieJar()
        self._opener = _opener(self._cookies)

    def forget(self) -> None:
        """Throw the cookies away."""
        self._cookies.clear()

    def send(self, fields: Mapping[str, str], *, post: bool, writes: bool) -> HttpAnswer:
        """Send fields, in the address or posted.

        Raises:
            HttpError: there was no answer, or none that is of use.
        """
        encoded = urllib.parse.urlencode(fields, errors="replace")
        headers = {"User-Agent": self._agent, "Accept": "application/json"}
        if post and not writes:
            # Lets a wiki of several places answer at the nearest one.
            headers["Promise-Non-Write-API-Action"] = "true"
        request = urllib.request.Request(
            self.address if post else f"{self.address}?{encoded}",
            data=encoded.encode("ascii") if post else None,
            headers=headers,
        )
        try:
            return self._answer(request)
        except urllib.error.HTTPError as error:
            with error:
                raise _refused(error) from None

    def send_json(self, body: bytes, headers: Mapping[str, str]) -> HttpAnswer:
        """Post JSON with more headers. Raises ``HttpError``, with a refusal's own words."""
        known = {"User-Agent": self._agent, "Content-Type": "application/json"}
        request = urllib.request.Request(self.address, data=body, headers={**known, **headers})
        try:
            return self._answer(request)
        except urllib.error.HTTPError as error:
            with error:
                said = " ".join(error.read(2_000).decode(errors="replace").split())[:200]
                raise _with_status(error, f": {said}") from None

    def _answer(self, request: urllib.request.Request) -> HttpAnswer:
        deadline = time.monotonic() + self._timeout
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                body = _read(response, deadline)
                return HttpAnswer(body, _seconds(response.headers.get("Retry-After")))
        except urllib.error.HTTPError:
            raise
        except (OSError, http.client.HTTPException) as error:
            raise HttpError(_why(error), passing=True) from None


def user_agent(contact: str) -> str:
    """Who asks, as operators of wikis want to know it.

    Raises:
        ValueError: the contact has what no header may have.
    """
    if not contact.isascii() or any(not one.isprintable() for one in contact):
        raise ValueError("a contact is one line of plain letters")
    about = f" ({contact})" if contact else ""
    return f"Turnspan/{__version__}{about} bot"


def _opener(cookies: CookieJar) -> urllib.request.OpenerDirector:
    """Without what ``build_opener`` adds: files, FTP, and being led to other addresses."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPCookieProcessor(cookies),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.UnknownHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _read(response: Any, deadline: float) -> bytes:
    """The whole body. A socket's own timeout is for each piece: this one is for all of them."""
    pieces: list[bytes] = []
    size = 0
    while piece := response.read1(_PIECE):
        size += len(piece)
        if size > LIMIT:
            raise HttpError(f"answers with more than {LIMIT // 2**20} MB", passing=False)
        if time.monotonic() > deadline:
            raise HttpError("takes too long to answer", passing=True)
        pieces.append(piece)
    expected = response.headers.get("Content-Length")
    if expected is not None and expected.isdecimal() and size < int(expected):
        raise HttpError("broke off in the middle of an answer", passing=True)
    return b"".join(pieces)


def _refused(error: urllib.error.HTTPError) -> HttpError:
    if error.code in (301, 302, 303, 307, 308):
        elsewhere = error.headers.get("Location", "another address")
        return HttpError(f"leads to {elsewhere}: give that address", passing=False)
    if error.code == 401:
        return HttpError("wants a login of its web server, not of the wiki (401)", passing=False)
    return _with_status(error)


def _with_status(error: urllib.error.HTTPError, text: str = "") -> HttpError:
    return HttpError(
        f"answers with status {error.code}{text}",
        passing=error.code in _PASSING,
        retry_after=_seconds(error.headers.get("Retry-After")),
    )


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", None)
    told = reason if isinstance(reason, Exception) else error
    return f"cannot be reached ({type(told).__name__})"


def _seconds(header: str | None) -> float | None:
    """``Retry-After``: seconds, or a date."""
    if not header:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        when = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, when.timestamp() - time.time())
