"""What the instrumentors of the SDKs share: patch when the SDK is imported, restore, report."""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any, Protocol

from opentelemetry import trace
from opentelemetry.trace import Tracer

from turnspan._version import __version__
from turnspan.patching.light_instrumentor import LightInstrumentor
from turnspan.patching.patches import Patches
from turnspan.runtime import installed
from turnspan.runtime.guard import guard, logger
from turnspan.tracing.otel_fast import tracer_of


class Wrappers(Protocol):
    """What an instrumentor puts on its SDK's functions."""

    tracer: Tracer
    enabled: bool
    """False once uninstrumented: a wrapper that could not be removed passes through."""


class SdkInstrumentor(LightInstrumentor):
    """An instrumentor that never imports its SDK: it waits until the application does."""

    package: str
    """The module that the application imports."""
    distribution: str = ""
    """What the package is called where it is installed, if not by its module."""
    scope: str
    versions: str
    """Those of the package that it is made for, as a requirement."""
    make_sdk: type[Any]
    """The wrappers of one instrumentation: ``Wrappers``, made with a tracer."""
    refusal: str = ""
    """Why the SDK could not be instrumented; empty if it was, or was not imported yet."""

    _sdk: Wrappers | None = None
    _patches: Patches | None = None
    _waiting: bool = False
    _given: bool = False

    def instrumentation_dependencies(self) -> Collection[str]:
        """The versions this is made for."""
        return (self.versions,)

    def patch(self, sdk: Any, patches: Patches) -> str:
        """Put the wrappers on; returns why the SDK cannot be instrumented, or nothing."""
        raise NotImplementedError

    def _instrument(self, **kwargs: Any) -> None:
        import wrapt

        given = kwargs.get("tracer_provider")
        self._given = given is not None
        self._sdk = self.make_sdk(self._tracer(given))
        if not self._waiting:
            self._waiting = True  # such a hook cannot be taken back, so there is only ever one
            wrapt.register_post_import_hook(self._imported, self.package)
        elif self.imported:
            self._imported(None)

    def _tracer(self, provider: Any) -> Tracer:
        return tracer_of(self.scope, provider, __version__)

    def use_default_provider(self, provider: trace.TracerProvider | None) -> None:
        """Record under this provider, unless ``instrument`` was given another."""
        if self._sdk is not None and not self._given:
            self._sdk.tracer = self._tracer(provider)

    def _uninstrument(self, **kwargs: Any) -> None:
        if self._sdk is not None:
            self._sdk.enabled = False
            self._sdk = None
        if self._patches is not None:
            self._patches.restore()
            self._patches = None
        self.refusal = ""

    def _imported(self, module: Any) -> None:
        with guard(f"instrument {self.package}"):
            sdk = self._sdk
            if sdk is None or self._patches is not None:
                return
            self._patches = patches = Patches()
            self.refusal = self.patch(sdk, patches)
            if self.refusal:
                patches.restore()
                logger.warning("Calls of %s are not recorded: %s.", self.package, self.refusal)
            elif patches.missing:
                logger.debug("%s lacks %s.", self.package, ", ".join(patches.missing))

    @property
    def imported(self) -> bool:
        """Whether the application has imported the SDK."""
        return self.package in sys.modules

    @property
    def missing(self) -> list[str]:
        """Private parts that this version of the SDK does not have, so that something degrades."""
        return [] if self._patches is None else list(self._patches.missing)

    @property
    def waiting(self) -> list[str]:
        """The SDK's modules that are wrapped when the application imports them."""
        return [] if self._patches is None else list(self._patches.waiting)

    @property
    def version(self) -> str:
        """The installed version of the SDK; empty where it is not installed."""
        return installed.version(self.distribution or self.package)
