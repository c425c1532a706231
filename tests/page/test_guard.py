"""Who may ask the page what: over every route, so that a new one cannot be left out."""

from __future__ import annotations

import contextlib
import os
from http.client import HTTPConnection
from pathlib import Path

import pytest

from support.pages import ServedPage, served
from turnspan_console.web.api import endpoints
from turnspan_console.web.app import static_files
from turnspan_console.web.guard import MAX_BODY_BYTES, SECURITY_HEADERS

OPEN = ["/", "/turns", "/s/demo/any", *(f"/static/{name}" for name in sorted(static_files()))]
API = [(one.method, one.path) for one in endpoints()] + [("GET", "/api/openapi.json")]
ROUTES = [("GET", path) for path in OPEN] + API + [("GET", "/api/none"), ("GET", "/static/none")]


def sent(method: str) -> dict[str, str]:
    """What a request of the page itself has."""
    return {"content_type": "application/json"} if method == "POST" else {}


def body(method: str) -> bytes | None:
    """An empty body where there must be one."""
    return b"{}" if method == "POST" else None


def port(page: ServedPage) -> str:
    """The page's port."""
    return page.address.rstrip("/").rpartition(":")[2]


def test_only_our_names_are_answered(demo_page: ServedPage) -> None:
    """Static files too: a name that somebody points at 127.0.0.1 gets nothing at all."""
    for method, path in ROUTES:
        for host in ("evil.example", "127.0.0.1", "localhost.evil.example", "", "127.0.0.1:1"):
            host = f"{host}:{port(demo_page)}" if host.endswith("example") else host
            answer = demo_page.ask(
                path, method=method, body=body(method), host=host, **sent(method)
            )
            assert answer.status == 421, (path, host)
    for host in ("localhost", "127.0.0.1", "[::1]"):
        assert demo_page.ask("/", host=f"{host}:{port(demo_page)}").status == 200


def test_other_pages_are_not_answered(demo_page: ServedPage) -> None:
    """By their origin, also that of another port, and by what browsers say of a request."""
    ours = demo_page.address.rstrip("/")
    for method, path in ROUTES:
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1", f"{ours}0"):
            answer = demo_page.ask(
                path, method=method, body=body(method), origin=origin, **sent(method)
            )
            assert answer.status == 403, (path, origin)
        for site in ("cross-site", "same-site"):
            answer = demo_page.ask(
                path, method=method, body=body(method), sec_fetch_site=site, **sent(method)
            )
            assert answer.status == 403, (path, site)
    assert demo_page.ask("/turns", origin=ours, sec_fetch_site="same-origin").status == 200


def test_what_is_recorded_needs_the_token(demo_page: ServedPage) -> None:
    """Every endpoint and the description, but no file of the page."""
    for method, path in API:
        for token in (None, "wrong", demo_page.token + "x", demo_page.token[:-1]):
            answer = demo_page.ask(
                path, method=method, token=token, body=body(method), **sent(method)
            )
            assert answer.status == 401, (path, token)
            assert answer.headers["www-authenticate"] == "Bearer"
            assert "turnspan console" in answer.json()["error"]
    for path in OPEN:
        assert demo_page.ask(path, token=None).status == 200, path


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"])
def test_no_other_method(demo_page: ServedPage, method: str) -> None:
    """Above all no OPTIONS, by which another page asks whether it may."""
    for _, path in ROUTES:
        assert demo_page.ask(path, method=method).status == 405, path


def test_every_answer_says_what_a_browser_may_do(demo_page: ServedPage) -> None:
    """Refusals too; no answer lets another origin read it, and what is recorded is not cached."""
    for method, path in ROUTES:
        for token in (None, ""):
            answer = demo_page.ask(
                path, method=method, token=token, body=body(method), **sent(method)
            )
            for name, value in SECURITY_HEADERS:
                assert answer.headers[name] == value, (path, name)
            assert not [name for name in answer.headers if name.startswith("access-control")]
            if path.startswith("/api"):
                assert answer.headers["cache-control"] == "no-store"


def test_a_body_is_json_and_small(demo_page: ServedPage) -> None:
    """Of every endpoint, and known before it is read."""
    path = "/api/none"
    assert demo_page.ask(path, method="POST", body=b"{}", content_type="text/plain").status == 415
    asked = HTTPConnection(demo_page.address.removeprefix("http://").rstrip("/"), timeout=10)
    asked.putrequest("POST", path)  # refused by what it says: nothing of it is read
    asked.putheader("content-type", "application/json")
    asked.putheader("content-length", str(MAX_BODY_BYTES + 1))
    asked.endheaders()
    with contextlib.closing(asked):
        assert asked.getresponse().status == 413


def test_a_file_is_sent_once(demo_page: ServedPage) -> None:
    """A browser that has it is told so; what is asked for by its hash is not asked for again."""
    first = demo_page.ask("/static/app.js")
    assert first.headers["cache-control"] == "no-cache"
    again = demo_page.ask("/static/app.js", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")
    sprite = demo_page.ask("/static/icons.svg").headers["etag"].strip('"')
    assert sprite.encode() in demo_page.ask("/static/shared.js").body
    for query, kept in ((sprite, True), (sprite[1:], False)):
        cached = demo_page.ask(f"/static/icons.svg?{query}").headers["cache-control"]
        assert ("immutable" in cached) is kept


def test_the_token_is_the_users_alone(tmp_path: Path) -> None:
    """It stays over a restart, and goes when a new one is asked for."""
    store = f"chdb://{tmp_path / 'store'}"
    with served(store, tmp_path) as page:
        first = page.token
        [file] = tmp_path.rglob("page-token")
        assert file.read_text().strip() == first
        if os.name != "nt":
            assert file.stat().st_mode & 0o777 == 0o600
            assert file.parent.stat().st_mode & 0o077 == 0
    with served(store, tmp_path, "--new-token") as page:
        assert page.token != first
        assert page.ask("/api/store", token=first).status == 401


def test_a_store_that_is_not_there_is_a_sentence(tmp_path: Path) -> None:
    """The page opens all the same, and says what to do."""
    with served(f"chdb://{tmp_path / 'none'}", tmp_path) as page:
        assert page.ask("/").status == 200
        answer = page.ask("/api/turns")
        assert answer.status == 503
        assert "There is no store" in answer.json()["error"]
