"""The one guard: telemetry never raises into the user's code.

Our code runs beside the user's, inside ``with guard("where"):``. It contains what our code raises,
and what the methods of a value raise that our code looks at, a ``KeyboardInterrupt`` or
``SystemExit`` among it; logs the first failure of each place once with a traceback, and counts
every one. What was ``delivered`` meanwhile (Ctrl-C, a handler's timeout) goes on to the user's
code. The user's function is always called outside it.
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable

from turnspan.runtime.errors import ConfigError
from turnspan.runtime.forks import in_child
from turnspan.runtime.value_exceptions import delivered

logger = logging.getLogger("turnspan")

_MESSAGE = (
    "Turnspan failed in %s; your code is unaffected, this piece of telemetry is lost. "
    "Further failures there are only counted (`turnspan doctor`).\n%s"
)
_MISTAKE = "%s cannot use what it was given, and records nothing of it: %s"
_MOST_TOLD = 1_000


_said: set[str] = set()


def warn_once(text: str) -> None:
    """Say it in the log, if it was not said before."""
    if text not in _said and len(_said) < _MOST_TOLD:
        _said.add(text)
        logger.warning("%s", text)


class InternalErrors:
    """What was swallowed, by place. Tests assert that it stays empty."""

    def __init__(self) -> None:
        # Reentrant: letting go of an error may collect what its traceback held, such as a stream,
        # whose end may fail in turn.
        self._lock = threading.RLock()
        self._counts: Counter[str] = Counter()
        self._told: set[tuple[str, str]] = set()
        self._accounted = 0
        self.last: BaseException | None = None
        self.describe: Callable[[str, BaseException], str] = _kind_of_error
        """What the log says of the first error at a place. An error's own message may quote
        content, so whoever knows the settings is to say what of it may be told."""
        in_child(self._after_fork)

    def record(
        self, place: str, error: BaseException, *, accounted: bool = False, public: str = ""
    ) -> None:
        """Count a swallowed error; the first at a place is logged with its traceback.

        ``accounted`` says that the caller counts what was lost by it among what it has dropped,
        ``public`` which function of the public interface was given what led to it: that is no
        failure of ours. Of a ``ConfigError`` each different one is logged.

        Raises:
            BaseException: the error itself, where it was delivered and is not ours to swallow.
        """
        if delivered(error):
            raise error
        with self._lock:
            self._counts[place] += 1
            self._accounted += accounted
            told = str(error)[:200] if isinstance(error, ConfigError) else ""
            first = (place, told) not in self._told and len(self._told) < _MOST_TOLD
            if first:
                self._told.add((place, told))
            self.last = error
        if first:
            try:
                message, name = (_MISTAKE, public) if public else (_MESSAGE, place)
                logger.warning(message, name, self.describe(place, error))
            except BaseException as failure:
                if delivered(failure):
                    raise

    def counts(self) -> dict[str, int]:
        """Swallowed errors by place since the process began (or the last reset)."""
        with self._lock:
            return dict(self._counts)

    @property
    def unaccounted(self) -> int:
        """How many cost a piece of telemetry that nobody else counts."""
        with self._lock:
            return sum(self._counts.values()) - self._accounted

    def reset(self) -> None:
        """Forget them all; the next failure is logged again."""
        with self._lock:
            self._counts.clear()
            self._told.clear()
            self._accounted = 0
            self.last = None

    def _after_fork(self) -> None:
        self._lock = threading.RLock()  # another thread may have held it


def _kind_of_error(place: str, error: BaseException) -> str:
    return type(error).__qualname__


errors = InternalErrors()


class guard:
    """``with guard("place"):`` swallows and counts what our own code, or a value's, raises.

    ``public`` is the function, in a user's words, whose arguments are read inside."""

    __slots__ = ("_place", "_public")

    def __init__(self, place: str, public: str = "") -> None:
        self._place = place
        self._public = public

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if error is None:
            return False
        if delivered(error):
            return False
        errors.record(self._place, error, public=self._public)
        return True
