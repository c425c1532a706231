"""No byte of a rerun leaves the machine: an audit hook looks at every address that is connected to.

Loopback addresses and Unix sockets are free. So are the hosts of the store and the OTLP endpoints
that the program records into: its records must land, and are the user's own. Everything else is
refused, unless the rerun lets live tools through (``TURNSPAN_RERUN_NETWORK``). What connects below
Python's own sockets is refused where it begins (``native_clients``); a C library that opens sockets
itself (libpq, librdkafka) is not seen.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Final
from urllib.parse import urlsplit

from turnspan.runtime import rerun_scope
from turnspan.runtime.type_guards import kind_of
from turnspan.wire.rerunning.redirects import redirects

_INET: Final = (socket.AF_INET, socket.AF_INET6)
_LOCAL_FAMILIES: Final = frozenset(
    getattr(socket, name, None) for name in ("AF_UNIX", "AF_NETLINK", "AF_ALG")
)
"""Families that reach no other machine."""
_STORE: Final = "TURNSPAN_STORE"


class NetworkGuard:
    """The hook; it cannot be taken off, so it looks at nothing while no rerun is under way."""

    def __init__(self) -> None:
        self.closed = False
        """Whether other hosts are refused."""
        self._hooked = False
        self._resolving = threading.local()
        self._landing: dict[str, set[str]] = {}
        """Hosts that records go to, with their addresses."""
        self._checks: dict[str, Callable[[Any], None]] = {
            "socket.connect": self._connected,
            "socket.sendto": self._connected,
            "socket.sendmsg": self._connected,
            "socket.getaddrinfo": self._looked_up,
            "socket.gethostbyname": self._looked_up,
            "socket.gethostbyaddr": self._looked_up,
        }

    def begin(self, *, network: bool) -> None:
        """Refuse from now on, unless other hosts are let through."""
        self.closed = not network
        self._landing = {}
        if self.closed and not self._hooked:
            self._hooked = True
            sys.addaudithook(self._audit)

    def end(self) -> None:
        """Refuse no more."""
        self.closed = False

    def _audit(self, event: str, args: Any) -> None:
        if self.closed:
            check = self._checks.get(event)
            if check is not None and not getattr(self._resolving, "on", False):
                check(args)

    def _connected(self, args: Any) -> None:
        connection, address = args[0], args[1]
        if address is None or connection.family in _LOCAL_FAMILIES:
            return
        if connection.family not in _INET or kind_of(address) is not tuple:
            self.check(f"a socket of {connection.family!r}", None)
        else:
            self.check(str(address[0]), address[1])

    def _looked_up(self, args: Any) -> None:
        host = args[0]
        if host is None:
            return
        name = host.decode("ascii", "replace") if isinstance(host, (bytes, bytearray)) else host
        self.check(str(name), args[1] if len(args) > 1 else None)

    def check(self, host: str, port: Any) -> None:
        """Whether a host may be reached.

        Raises:
            RerunRefusedError: it may not; the text says what lets it through.
        """
        if not self.closed or is_loopback(host) or self._takes_records(host):
            return
        place = f"{host}:{port}" if port not in (None, 0, "") else host
        redirects.refuse(
            "network",
            place,
            f"A rerun sends nothing to another machine: {place} is refused. Where a tool has to "
            "reach it, name the tool with `turnspan rerun --live-tools NAME`; `--after live` lets "
            "everything through after the first divergence.",
        )

    def _takes_records(self, host: str) -> bool:
        """Whether records go to this host, or this is one of its addresses."""
        landing = self._landing
        for name in landing_hosts():
            if name not in landing:
                landing[name] = set()
            if name == host:  # about to be looked up: its addresses are let through as well
                landing[name] |= self._addresses(name)
                return True
        return any(host in addresses for addresses in landing.values())

    def _addresses(self, name: str) -> set[str]:
        self._resolving.on = True
        try:
            return {str(found[4][0]) for found in socket.getaddrinfo(name, None)}
        except OSError:  # the program's own look-up says so
            return set()
        finally:
            self._resolving.on = False


def landing_hosts() -> set[str]:
    """The hosts of the store and of the OTLP endpoints that the environment or the code names."""
    found = set(rerun_scope.landing_hosts)
    for name, value in os.environ.items():
        if name == _STORE or (name.startswith("OTEL_EXPORTER_OTLP") and name.endswith("ENDPOINT")):
            host = urlsplit(value if "://" in value else f"//{value}").hostname
            if host and (name != _STORE or value.startswith("http")):
                found.add(host)
    return found


def is_loopback(host: str) -> bool:
    """Whether a name or an address is this machine's own, reached without a network."""
    if host in ("", "localhost", "0.0.0.0", "::"):
        return True
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


network: Final = NetworkGuard()
"""The process's."""
