"""How the page itself is served: where, to which names, with whose token."""

from __future__ import annotations

from dataclasses import dataclass

from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.web.endpoints import NoQuery, WebEndpoint, endpoint


@dataclass(frozen=True, slots=True)
class Serving:
    """Where the page listens, the host names that it answers to, and the file of its token."""

    address: str = ""
    names: tuple[str, ...] = ()
    token_file: str = ""


def serving_endpoint(serving: Serving) -> WebEndpoint[NoQuery, Serving]:
    """The question how this server is served, which its store does not know."""

    @endpoint("GET", "/api/serving", "How this page is served.", storeless=True)
    def answer(_dsn: Dsn, _query: NoQuery) -> Serving:
        return serving

    return answer
