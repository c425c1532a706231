"""Putting wrappers on an SDK's functions and taking them off again.

wrapt is imported only here, when something is instrumented: it costs tens of milliseconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from inspect import signature
from typing import Any, cast

from turnspan.runtime.guard import guard, logger

Function = Callable[..., Any]
Args = tuple[Any, ...]
Kwargs = dict[str, Any]
Wrapper = Callable[[Any, Any, Args, Kwargs], Any]
"""``wrapper(wrapped, instance, args, kwargs)``, as wrapt calls it."""


class Patches:
    """The wrappers put on one SDK."""

    def __init__(self) -> None:
        self._applied: list[tuple[Any, str, Any, Any]] = []
        self.missing: list[str] = []
        """What this version of the SDK does not have; shown by ``turnspan doctor``."""
        self.waiting: list[str] = []
        """The modules that are wrapped when the application imports them, as the doctor does."""
        self._restored = False

    def wrap(self, module: str, path: str, wrapper: Wrapper) -> bool:
        """Wrap ``module``'s ``Class.method`` or function; false (and noted) where it is missing."""
        import wrapt

        found = _find(module, path)
        if found is None:
            self.missing.append(f"{module}:{path}")
            return False
        parent, name, original = found
        wrapt.wrap_function_wrapper(parent, name, wrapper)
        self._applied.append((parent, name, original, _own(parent)[name]))
        return True

    def wrap_later(self, module: str, path: str, wrapper: Wrapper) -> None:
        """As ``wrap``, but where the application has not imported the module yet, as soon as it
        does: SDKs load some of theirs only when they are asked for, and slowly."""
        self.when_imported(module, lambda: self.wrap(module, path, wrapper))

    def when_imported(self, module: str, patch: Callable[[], object]) -> None:
        """Have ``patch`` put wrappers on a module now, or as soon as the application imports it."""
        if module in sys.modules:
            patch()
            return
        import wrapt  # 3 ms: where something is instrumented only

        self.waiting.append(module)

        def imported(_: Any) -> None:
            with guard(f"instrument {module}"):
                if not self._restored:  # such a hook cannot be taken back
                    patch()

        wrapt.register_post_import_hook(imported, module)

    def wrap_everywhere(self, module: str, name: str, wrapper: Wrapper) -> bool:
        """Wrap a module's function also in the modules that have imported it by name so far."""
        found = _find(module, name)
        if not self.wrap(module, name, wrapper) or found is None:
            return False
        original = found[2]
        ours = _own(found[0])[name]
        for holder in list(sys.modules.values()):
            try:  # not through the module, which may do its own importing when it is looked at
                names: dict[str, Any] = object.__getattribute__(holder, "__dict__")
                held = [key for key, value in list(names.items()) if value is original]
            except (AttributeError, RuntimeError):  # no module; one that is being imported just now
                continue
            for key in held:
                names[key] = ours
                self._applied.append((holder, key, original, ours))
        return True

    def wrap_any(self, module: str, paths: Sequence[str], wrapper: Wrapper) -> bool:
        """Wrap the first of these that exists; false (and noted once) where none does."""
        there = (path for path in paths if self.has(module, path))
        return self.wrap(module, next(there, paths[0]), wrapper)

    def has(self, module: str, *paths: str) -> bool:
        """Whether a module has all of these; nothing is noted, for what only some versions have."""
        return all(_find(module, path) is not None for path in paths)

    def takes(self, module: str, path: str, parameter: str) -> bool:
        """Whether a function that a module has takes a parameter of this name."""
        found = _find(module, path)
        return found is not None and parameter in signature(found[2]).parameters

    def restore(self) -> None:
        """Put the originals back. A wrapper that somebody wrapped again since stays, inert."""
        self._restored = True
        for parent, name, original, ours in reversed(self._applied):
            if _own(parent).get(name) is ours:
                setattr(parent, name, original)
            else:
                logger.info(
                    "%s.%s was wrapped by another package after Turnspan; its wrapper stays.",
                    getattr(parent, "__name__", parent),
                    name,
                )
        self._applied.clear()


def _find(module: str, path: str) -> tuple[Any, str, Any] | None:
    """The owner, name and value of ``module``'s ``Class.method`` or function."""
    *owners, name = path.split(".")
    parent: Any
    try:
        parent = import_module(module)
        for owner in owners:
            parent = getattr(parent, owner)
        return parent, name, _own(parent)[name]
    except (ImportError, AttributeError, KeyError):
        return None


def _own(parent: Any) -> dict[str, Any]:
    """What a module or class defines itself: an inherited method is not ours to restore."""
    return dict(cast("dict[str, Any]", vars(parent)))
