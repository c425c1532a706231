"""A store's address: one DSN says where records live.

===================================================  ==========================================
``chdb:///absolute/path``                            the embedded engine's folder
``http(s)://user:password@host:port/database``       a ClickHouse server or ClickHouse Cloud
the same with ``?cluster=NAME``                      a ClickHouse cluster
``?cluster=NAME&replicated=no``                      a cluster of single nodes without Keeper
===================================================  ==========================================

Unset means the embedded store in the user's data folder. The password may come from
``TURNSPAN_STORE_PASSWORD`` or the file named by ``TURNSPAN_STORE_PASSWORD_FILE`` instead.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

from turnspan_clickhouse.errors import StoreError

DEFAULT_DATABASE = "turnspan"

_USER = re.compile(r"[\w.@+-]+")
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+(?:%[\w.-]+)?")


@dataclass(frozen=True, slots=True, repr=False)
class Dsn:
    """Where records live. ``str()`` is a DSN again, without the password."""

    scheme: str
    path: Path | None = None
    host: str = ""
    port: int = 0
    user: str = "default"
    password: str = ""
    database: str = DEFAULT_DATABASE
    cluster: str = ""
    replicated: bool = True
    """Of a cluster: whether its shards are replicated, which takes ClickHouse Keeper."""

    @property
    def embedded(self) -> bool:
        """Whether the store is the in-process engine."""
        return self.scheme == "chdb"

    @property
    def secure(self) -> bool:
        """Whether the server is spoken to over TLS."""
        return self.scheme == "https"

    @property
    def spool(self) -> Path:
        """The folder of this store's spool; ``TURNSPAN_SPOOL`` overrides it."""
        override = os.environ.get("TURNSPAN_SPOOL")
        if override:
            return Path(override).expanduser().absolute()
        if self.path is not None:
            return self.path / "spool"
        key = f"{self.host}:{self.port}/{self.database}"
        digest = hashlib.sha256(key.encode()).hexdigest()[:12]
        return data_folder() / "spool" / f"{self.host}-{digest}"

    def __repr__(self) -> str:
        return f"Dsn({str(self)!r})"

    def __str__(self) -> str:
        if self.path is not None:
            return f"chdb://{_slashes(self.path)}"
        cluster = f"?cluster={_quoted(self.cluster)}" if self.cluster else ""
        cluster += "" if self.replicated else "&replicated=no"
        host = f"[{self.host}]" if ":" in self.host else self.host
        # Without a password the user may be one that is written in its place.
        known = self.password or _USER.fullmatch(self.user)
        user, database = _quoted(self.user) if known else "***", _quoted(self.database)
        return f"{self.scheme}://{user}@{host}:{self.port}/{database}{cluster}"


def data_folder() -> Path:
    """The folder that holds the default embedded store and the spools of servers."""
    import platformdirs

    return Path(platformdirs.user_data_dir("turnspan", appauthor=False))


def parse(text: str | None = None) -> Dsn:
    """Read a DSN; ``None`` means ``TURNSPAN_STORE``, and that unset the default embedded store.

    Raises:
        StoreError: the text is not a DSN; the message says what one looks like.
    """
    text = text if text is not None else os.environ.get("TURNSPAN_STORE", "")
    if not text.strip():
        return Dsn(scheme="chdb", path=data_folder() / "store")
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        raise StoreError(
            f"The store {_masked(text)!r} has a bracket that belongs to no address: write special "
            "characters of the password in percent (%5B for [)."
        ) from None
    if parts.scheme == "chdb":
        if parts.netloc or not parts.path.startswith("/") or re.search(":.*@", parts.path):
            raise StoreError(
                f"The store {_masked(text)!r} is not an absolute path: "
                "write it as chdb:///absolute/path (three slashes)."
            )
        return Dsn(scheme="chdb", path=_path(unquote(parts.path)))
    if parts.scheme in ("http", "https"):
        return _server(text, parts.scheme)
    raise StoreError(
        f"The store {_masked(text)!r} has no known scheme: use chdb:///absolute/path for the "
        "embedded engine or http(s)://user:password@host:port/database for a server."
    )


def _server(text: str, scheme: str) -> Dsn:
    parts = urlsplit(text.strip())
    if "@" in parts.path + parts.query or parts.fragment or ":" in unquote(parts.username or ""):
        raise StoreError(
            f"The store {_masked(text)!r} has a special character where none belongs: write those "
            "of the user and the password in percent, %2F for /, %23 for #, %3F for ?, %40 for @, "
            "and a plain : between the two."
        )
    try:
        port = parts.port or (8443 if scheme == "https" else 8123)
    except ValueError:
        raise StoreError(
            f"The port in the store {_masked(text)!r} is not a number. (If that is part of the "
            "password: write its special characters in percent, %2F for /, %23 for #, %3F for ?.)"
        ) from None
    if not parts.hostname or not _HOST.fullmatch(parts.hostname):
        raise StoreError(
            f"The store {_masked(text)!r} names no host: "
            "write http(s)://user:password@host:port/database."
        )
    options = parse_qs(parts.query)
    unknown = sorted(set(options) - {"cluster", "replicated"})
    if unknown:
        raise StoreError("The store has an unknown option; known are: cluster, replicated.")
    replicated = options.get("replicated", ["yes"])[0]
    if replicated not in ("yes", "no") or ("replicated" in options and "cluster" not in options):
        raise StoreError(
            "The store's option replicated is yes or no, and only beside cluster: "
            "?cluster=NAME&replicated=no is a cluster without ClickHouse Keeper."
        )
    password = unquote(parts.password) if parts.password is not None else _password_elsewhere()
    return Dsn(
        scheme=scheme,
        host=parts.hostname,
        port=port,
        user=unquote(parts.username) if parts.username else "default",
        password=password,
        database=unquote(parts.path.strip("/")) or DEFAULT_DATABASE,
        cluster=options["cluster"][0] if "cluster" in options else "",
        replicated=replicated == "yes",
    )


def _password_elsewhere() -> str:
    if "TURNSPAN_STORE_PASSWORD" in os.environ:
        return os.environ["TURNSPAN_STORE_PASSWORD"]
    file = os.environ.get("TURNSPAN_STORE_PASSWORD_FILE")
    if not file:
        return ""
    try:
        return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
    except OSError as error:
        named = repr(file) if Path(file).is_absolute() else "a file"  # not the password itself
        raise StoreError(
            f"TURNSPAN_STORE_PASSWORD_FILE names {named}, which cannot be read: {error.strerror}."
        ) from None


def _path(text: str) -> Path:
    """The folder of ``chdb:///srv/store``, or of ``chdb:///C:/store``."""
    return Path(text[1:] if os.name == "nt" and text[2:3] == ":" else text)


def _slashes(path: Path) -> str:
    """The reverse: the part behind ``chdb://``."""
    text = path.as_posix()
    return quote(
        text if text.startswith("/") else f"/{text}", safe="/:" if os.name == "nt" else "/"
    )


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _masked(text: str) -> str:
    """A misspelt DSN for people: of one that may hold a password nothing but the scheme, since the
    password may stand anywhere in it."""
    scheme, slashes, rest = text.strip().partition("://")
    if scheme == "chdb" and not re.search("[@:]", rest):
        return text.strip()
    known = slashes and scheme in ("chdb", "http", "https")
    return f"{scheme}{slashes}***" if known else "***"
