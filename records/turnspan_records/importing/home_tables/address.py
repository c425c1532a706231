"""Where a table is: a DSN taken apart. Its password goes to the server and nowhere else."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from turnspan_records.importing.sources import SourceLogError

POSTGRESQL: Final = "postgresql"
MARIADB: Final = "mariadb"

_SCHEMES: Final = {
    "postgresql": POSTGRESQL,
    "postgres": POSTGRESQL,
    "mariadb": MARIADB,
    "mysql": MARIADB,
}
_PORTS: Final = {POSTGRESQL: 5432, MARIADB: 3306}
_PASSWORD_VARIABLES: Final = {POSTGRESQL: "PGPASSWORD", MARIADB: "MYSQL_PWD"}
_OPTIONS: Final = {
    POSTGRESQL: frozenset({"sslmode", "sslrootcert", "sslcert", "sslkey", "connect_timeout"}),
    MARIADB: frozenset({"unix_socket", "ssl_ca", "ssl_cert", "ssl_key", "connect_timeout"}),
}
_FORM: Final = "postgresql://user@host:5432/database or mariadb://user@host:3306/database"
_ENCODED: Final = (
    "Write / ? # @ and % of a user or password as %2F %3F %23 %40 and %25, or give the password in "
)


@dataclass(frozen=True, slots=True)
class Address:
    """A table of a database. Its text and ``identity`` hold no password."""

    scheme: str
    """``postgresql`` or ``mariadb``, which is also MySQL."""
    host: str
    port: int
    user: str
    database: str
    table: str
    """With its schema, if one was named: ``schema.table``."""
    options: Mapping[str, str] = field(default_factory=dict[str, str])
    password: str = field(default="", repr=False)

    @property
    def identity(self) -> str:
        """Which table it is, whoever reads it."""
        return f"{self.scheme}://{self.host}:{self.port}/{self.database}?table={self.table}"

    @property
    def names(self) -> list[str]:
        """The table's name, its schema before it where there is one."""
        return self.table.split(".", 1)


def parse_address(dsn: str, table: str = "") -> Address:
    """Take a DSN apart. ``table`` is read where the DSN names none.

    Raises:
        SourceLogError: it is not of the form; what it says of it holds no part of the DSN but its
            scheme or the name of a parameter, since any other may be a password's.
    """
    text = dsn.strip()
    given = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", text)
    scheme = _SCHEMES.get(given[1].lower(), "") if given else ""
    if not scheme:
        raise SourceLogError(f"this is no DSN of a database that can be read. Write {_FORM}.")
    variable = _PASSWORD_VARIABLES[scheme]
    parts = urlsplit(text)
    if "@" in parts.path or "@" in parts.query or parts.fragment:
        raise SourceLogError(f"the DSN cannot be taken apart. {_ENCODED}{variable}.")
    try:
        port = parts.port or _PORTS[scheme]
    except ValueError:
        raise SourceLogError(
            f"the port of the DSN is not a number up to 65535. {_ENCODED}{variable}."
        ) from None
    options = _options(scheme, parts.query)
    password = unquote(parts.password or "") or options.pop("password", "")
    database = unquote(parts.path.strip("/"))
    if not parts.hostname or not database:
        raise SourceLogError(f"the DSN names no host or no database. Write {_FORM}.")
    return Address(
        scheme,
        parts.hostname,
        port,
        unquote(parts.username or ""),
        database,
        options.pop("table", "") or table,
        options,
        password or os.environ.get(variable, ""),
    )


def _options(scheme: str, query: str) -> dict[str, str]:
    known = _OPTIONS[scheme] | {"table", "password"}
    found = dict(parse_qsl(query, keep_blank_values=True))
    for name in found:
        if name not in known:
            names = ", ".join(sorted(known - {"password"}))
            shown = name if re.fullmatch(r"[a-z_]{1,40}", name) else "a parameter of the DSN"
            raise SourceLogError(f"{shown} is not understood. These are: {names}.")
    return found
