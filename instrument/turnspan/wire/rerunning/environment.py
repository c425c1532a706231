"""What a rerun is told by its environment variables."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from turnspan import semconv
from turnspan.runtime.errors import ConfigError
from turnspan.tracing.propagation import loop_ids

SERVER: Final = "TURNSPAN_RERUN"
"""The server of a rerun, ``http://127.0.0.1:PORT/SECRET``. ``turnspan rerun`` sets these five."""
ID: Final = "TURNSPAN_RERUN_ID"
"""The id of a rerun, 8 hex digits: session ``x`` is recorded as ``x~ID``."""
OF: Final = "TURNSPAN_RERUN_OF"
"""The session that a rerun plays."""
NETWORK: Final = "TURNSPAN_RERUN_NETWORK"
"""``1``: a rerun lets requests to other machines through."""
ATTEMPT: Final = "TURNSPAN_RERUN_ATTEMPT"
"""The attempt that a fork's turns belong to: what ``turnspan.inject`` returns in it, as JSON."""
_TEXTS: Final = {"server": SERVER, "rerun_id": ID, "of": OF, "attempt": ATTEMPT}
STARTUP: Final = Path(__file__).with_name("startup")
"""The folder whose ``sitecustomize`` switches a rerun on before a program's first import."""
_SERVER: Final = re.compile(r"http://127\.0\.0\.1:(\d{1,5})/([0-9a-f]{32})")
_ID: Final = re.compile(r"[0-9a-f]{8}")


@dataclass(frozen=True, slots=True)
class RerunEnvironment:
    """A rerun as its programs are told of it."""

    server: str
    rerun_id: str
    of: str
    """The session that is played."""
    network: bool = False
    """Whether requests to other hosts are let through."""
    attempt: str = ""
    """What ``turnspan.inject`` returns inside a fork's attempt, as JSON."""

    def __post_init__(self) -> None:
        if not _SERVER.fullmatch(self.server):
            raise ConfigError(f"{SERVER} is http://127.0.0.1:PORT/SECRET, not {self.server!r}")
        if not _ID.fullmatch(self.rerun_id):
            raise ConfigError(f"{ID} is 8 hexadecimal digits, not {self.rerun_id!r}")
        if not self.of:
            raise ConfigError(f"{OF} names the session that the rerun plays; it is empty")
        self.attributes()

    @classmethod
    def read(cls, environ: Mapping[str, str]) -> RerunEnvironment:
        """The rerun of these environment variables.

        Raises:
            ConfigError: a variable is missing or malformed; the text says which.
        """
        texts = {field: environ.get(name, "") for field, name in _TEXTS.items()}
        return cls(**texts, network=environ.get(NETWORK, "") == "1")

    @property
    def port(self) -> int:
        """The server's port on 127.0.0.1."""
        return urlsplit(self.server).port or 0

    @property
    def secret(self) -> str:
        """What every request to the server has to carry."""
        return self.server.rpartition("/")[2]

    def attributes(self) -> dict[str, Any]:
        """What every span of the rerun carries.

        Raises:
            ConfigError: the attempt is not the JSON of ``turnspan.inject``'s carrier.
        """
        ids: dict[str, Any] = {}
        if self.attempt:
            try:
                ids = loop_ids(json.loads(self.attempt))
            except (ValueError, TypeError, AttributeError) as error:
                raise ConfigError(f"{ATTEMPT} is no carrier of turnspan.inject: {error}") from None
        return {**ids, semconv.RERUN_ID: self.rerun_id, semconv.RERUN_OF: self.of}

    def variables(self, environ: Mapping[str, str]) -> dict[str, str]:
        """The variables that put a program into the rerun, for these of its environment."""
        texts = {name: str(getattr(self, field)) for field, name in _TEXTS.items()}
        found = {name: text for name, text in texts.items() if text}
        if self.network:
            found[NETWORK] = "1"
        path = environ.get("PYTHONPATH", "").split(os.pathsep)
        folders = [str(STARTUP), *(folder for folder in path if folder != str(STARTUP))]
        found["PYTHONPATH"] = os.pathsep.join(folder for folder in folders if folder)
        return found
