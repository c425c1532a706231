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

import contextlib
import hashlib
import os
import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlsplit

from turnspan_clickhouse.errors import DsnError, PasswordError, StoreError

DEFAULT_DATABASE = "turnspan"

STORE = "TURNSPAN_STORE"
"""The store's DSN. Unset: an embedded store in your user data folder."""
SPOOL = "TURNSPAN_SPOOL"
"""The spool's folder. Unset: in the embedded store's folder, or your user data folder."""
PASSWORD = "TURNSPAN_STORE_PASSWORD"
"""The server's password, if the DSN has none."""
PASSWORD_FILE = "TURNSPAN_STORE_PASSWORD_FILE"
"""A file with the server's password. While it is unreadable, records wait in the spool."""

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
        override = os.environ.get(SPOOL)
        if override:
            try:
                return Path(override).expanduser().absolute()
            except RuntimeError:  # a home folder that nobody knows
                return temporary_folder() / "spool"
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

    with contextlib.suppress(RuntimeError, KeyError, OSError):
        found = Path(platformdirs.user_data_dir("turnspan", appauthor=False))
        if found.is_absolute():
            return found
    return temporary_folder()


def temporary_folder() -> Path:
    """The user's own folder for what has no other place, the same for every process of the user's
    that has no home: it lasts as long as the system's temporary files do."""
    try:
        parent = Path(tempfile.gettempdir())
    except OSError:  # no folder can be written: neither can this
        parent = Path("/tmp")
    if sys.platform == "win32":  # where that folder is the user's own already
        return parent / "turnspan"
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = parent / f"turnspan-{user}"
    try:
        fine = folder.lstat().st_uid == user and folder.is_dir() and not folder.is_symlink()
    except FileNotFoundError:
        fine = True
    except OSError:
        fine = False
    return folder if fine else parent / f"turnspan-{user}-{os.getpid()}"


def for_recording(text: str | None = None) -> tuple[Dsn, str]:
    """The store for a process that records, and what is wrong with its surroundings, if anything.

    Where these do not say where records go, they go to the temporary folder.

    Raises:
        DsnError: the text that was given is not a DSN.
    """
    store = os.environ.get(STORE, "") if text is None else text
    try:
        return parse(text), _homeless(store)
    except PasswordError as error:  # known before anything is shipped, perhaps
        return parse(text, password=""), f"{error} Records wait in the spool."
    except StoreError as error:
        if text is not None:
            raise
        dsn = Dsn(scheme="chdb", path=temporary_folder() / "store")
        return dsn, f"{error} Until then records go to {dsn.spool}."


def claim(dsn: Dsn) -> None:
    """Make the temporary folder the user's own, where that is what is recorded to."""
    folder = temporary_folder()
    if dsn.spool.is_relative_to(folder):
        folder.mkdir(mode=0o700, exist_ok=True)


def _homeless(store: str) -> str:
    """What is wrong where a folder of the user's is needed and there is none."""
    spool = os.environ.get(SPOOL, "")
    if spool:
        with contextlib.suppress(RuntimeError):
            Path(spool).expanduser()
            return ""
    elif store.strip().startswith("chdb:") or data_folder() != temporary_folder():
        return ""
    return (
        f"There is no home folder here, so records go to {temporary_folder()}, which may not last: "
        "set HOME, or TURNSPAN_SPOOL and TURNSPAN_STORE to absolute paths."
    )


def parse(text: str | None = None, *, password: str | None = None) -> Dsn:
    """Read a DSN; ``None`` means ``TURNSPAN_STORE``, and that unset the default embedded store.

    A ``password`` is used where the text has none, instead of what the environment says.

    Raises:
        DsnError: the text is not a DSN; the message says what one looks like.
        PasswordError: the password's file cannot be read.
    """
    text = text if text is not None else os.environ.get(STORE, "")
    if not text.strip():
        return Dsn(scheme="chdb", path=data_folder() / "store")
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        raise DsnError(
            f"The store {_masked(text)!r} has a bracket or letter that no address has: "
            "percent-encode special characters of the password (%5B for [)."
        ) from None
    if parts.scheme == "chdb":
        if parts.netloc or not parts.path.startswith("/") or re.search(":.*@", parts.path):
            raise DsnError(
                f"The store {_masked(text)!r} is not an absolute path: "
                "write it as chdb:///absolute/path (three slashes)."
            )
        return Dsn(scheme="chdb", path=_path(unquote(parts.path)))
    if parts.scheme in ("http", "https"):
        return _server(text, parts.scheme, password)
    raise DsnError(
        f"The store {_masked(text)!r} has no known scheme: use chdb:///absolute/path for the "
        "embedded engine or http(s)://user:password@host:port/database for a server."
    )


def _server(text: str, scheme: str, elsewhere: str | None) -> Dsn:
    parts = urlsplit(text.strip())
    if "@" in parts.path + parts.query or parts.fragment or ":" in unquote(parts.username or ""):
        raise StoreError(
            f"The store {_masked(text)!r} has a special character in a wrong place: "
            "percent-encode those of user and password (%2F for /, %23 for #, %3F for ?, %40 "
            "for @), and write a plain : between the two."
        )
    try:
        port = parts.port or (8443 if scheme == "https" else 8123)
    except ValueError:
        raise DsnError(
            f"The port in the store {_masked(text)!r} is not a number. (If that is part of the "
            "password: write its special characters in percent, %2F for /, %23 for #, %3F for ?.)"
        ) from None
    if not parts.hostname or not _HOST.fullmatch(parts.hostname):
        raise DsnError(
            f"The store {_masked(text)!r} names no host: "
            "write http(s)://user:password@host:port/database."
        )
    options = parse_qs(parts.query)
    unknown = sorted(set(options) - {"cluster", "replicated"})
    if unknown:
        raise DsnError(
            f"The store {_masked(text)!r} has an unknown option; known are: cluster, replicated."
        )
    replicated = options.get("replicated", ["yes"])[0]
    if replicated not in ("yes", "no") or ("replicated" in options and "cluster" not in options):
        raise DsnError(
            "The store's option replicated is yes or no, and only beside cluster: "
            "?cluster=NAME&replicated=no is a cluster without ClickHouse Keeper."
        )
    if parts.password is not None:
        password = unquote(parts.password)
    else:
        password = _password_elsewhere() if elsewhere is None else elsewhere
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
    if PASSWORD in os.environ:
        return os.environ[PASSWORD]
    file = os.environ.get(PASSWORD_FILE)
    if not file:
        return ""
    try:
        return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        named = repr(file) if Path(file).is_absolute() else "a file"  # not the password itself
        raise PasswordError(
            f"TURNSPAN_STORE_PASSWORD_FILE names {named}, which cannot be read: {reason}."
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


_PLACE = re.compile(r"([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(/[\w-]*)?")
_OPTION = re.compile(r"(?:cluster|replicated|database|secure)=\w*|(?:user|username|password)=")
_SERVERS = ("http", "https", "clickhouse", "clickhouses", "tcp", "postgresql", "postgres")


def _masked(text: str) -> str:
    """A misspelt DSN for people, without its password; of one whose password may stand anywhere, as
    it is misspelt, without all that may be of it."""
    scheme, slashes, rest = text.strip().partition("://")
    if scheme == "chdb" and not re.search("[@:]", rest):
        return text.strip()
    rest, at, place = rest.rpartition("@")
    place, mark, query = place.partition("?")
    whole = _PLACE.fullmatch(place)
    if scheme not in _SERVERS or not (at or whole):
        return f"{scheme}{slashes}***" if slashes and scheme in (*_SERVERS, "chdb") else "***"
    user, colon, _ = rest.partition(":")
    known = f"{user}:***@" if colon and re.fullmatch(r"[\w.+-]*", user) else "***@"
    options = "&".join(_option(one) for one in query.split("&"))
    return f"{scheme}://{known if at else ''}{place if whole else '***'}{mark}{options}"


def _option(text: str) -> str:
    shown = _OPTION.match(text)
    return text and f"{shown[0] if shown else ''}{'' if shown and shown[0] == text else '***'}"
