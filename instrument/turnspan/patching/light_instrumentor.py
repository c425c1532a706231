"""``BaseInstrumentor`` of OpenTelemetry, without what that one loads.

It loads ``packaging``, to compare versions, and the switches of older conventions: 15 ms of CPU in
every process, short-lived ones included.
"""

from __future__ import annotations

import platform
from collections.abc import Collection
from typing import Any, ClassVar

import wrapt

from turnspan.runtime.guard import logger
from turnspan.runtime.installed import fits


class LightInstrumentor:
    """What ``turnspan.instrument()`` and ``opentelemetry-instrument`` switch on and off.

    One object a class, as there is one library. To ``isinstance`` it is a ``BaseInstrumentor``.
    """

    _instance: ClassVar[Any] = None
    is_instrumented_by_opentelemetry = False
    """Whether it is on."""

    def __new__(cls, *_: Any, **__: Any) -> Any:
        """The object of this class."""
        if "_instance" not in cls.__dict__:
            cls._instance = super().__new__(cls)
        return cls._instance

    def instrumentation_dependencies(self) -> Collection[str]:
        """The versions this is made for, as requirements."""
        raise NotImplementedError

    def _instrument(self, **kwargs: Any) -> None:
        raise NotImplementedError

    def _uninstrument(self, **kwargs: Any) -> None:
        raise NotImplementedError

    def instrument(self, **kwargs: Any) -> None:
        """Put it on, if the installed version is one that it is made for.

        Raises:
            DependencyConflictError: it is not, and ``raise_exception_on_conflict`` is given.
        """
        if self.is_instrumented_by_opentelemetry:
            logger.warning("%s is on already.", type(self).__name__)
            return
        checked = kwargs.pop("skip_dep_check", False)
        raising = kwargs.pop("raise_exception_on_conflict", False)
        if checked or not self._conflicts(raising=raising):
            self._instrument(**kwargs)
            self.is_instrumented_by_opentelemetry = True

    def uninstrument(self, **kwargs: Any) -> None:
        """Take it off."""
        if not self.is_instrumented_by_opentelemetry:
            logger.warning("%s is off already.", type(self).__name__)
            return
        self._uninstrument(**kwargs)
        self.is_instrumented_by_opentelemetry = False

    def _conflicts(self, *, raising: bool) -> bool:
        """Whether another version is installed than it is made for, or none; that is said."""
        wanted = self.instrumentation_dependencies()
        if all(map(fits, wanted)):
            return False
        # 10 ms, for a version that is no release or does not fit.
        from opentelemetry.instrumentation import dependencies

        conflict = dependencies.get_dependency_conflicts(wanted)
        if conflict is None:
            return False
        if raising:
            raise dependencies.DependencyConflictError(conflict)
        logger.error("%s does nothing: %s.", type(self).__name__, conflict)
        return True


class PythonInstrumentor(LightInstrumentor):
    """An instrumentor of what is a part of Python, and so always there."""

    missing: Collection[str] = ()
    imported = True

    @property
    def version(self) -> str:
        """Python's own version."""
        return platform.python_version()

    def instrumentation_dependencies(self) -> Collection[str]:
        """None: it comes with Python."""
        return ()


def _be_known(module: Any) -> None:
    module.BaseInstrumentor.register(LightInstrumentor)


wrapt.register_post_import_hook(_be_known, "opentelemetry.instrumentation.instrumentor")
