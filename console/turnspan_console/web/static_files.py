"""The built files of the page: read once, sent with their SHA-256 as ETag.

Their names never change, so a browser asks each time, and is told in a few bytes that it has the
newest already. They hold nothing of anybody's and need no token.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response

DOCUMENT = "index.html"

_KINDS = {
    "html": "text/html; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "map": "application/json",  # of a build with source maps
}


@dataclass(frozen=True, slots=True)
class StaticFile:
    """A file with what is said of it."""

    body: bytes
    kind: str
    etag: str


@cache
def static_files() -> Mapping[str, StaticFile]:
    """The files by name."""
    folder = resources.files("turnspan_console.web") / "static"
    found = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return {
        name: StaticFile(
            body, _KINDS[name.rpartition(".")[2]], f'"{hashlib.sha256(body).hexdigest()}"'
        )
        for name, body in found.items()
    }


def answered(request: Request, name: str) -> Response:
    """A file, or that the browser has it."""
    file = static_files().get(name)
    if file is None:
        return Response("There is no such file.\n", 404, media_type="text/plain")
    headers = {"etag": file.etag, "cache-control": "no-cache"}
    if file.etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(file.body, headers=headers, media_type=file.kind)
