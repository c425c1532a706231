"""Which exceptions are a value's own, and which were delivered while we looked at it.

Looking at a value (freezing an argument, spelling an exception) runs its methods, which may raise
anything. What they raise is contained, whatever its class: the caller's result stays the caller's.
What was delivered from outside at that moment is none of our business and goes on:

* whatever a signal's handler raised (it was called in the middle of what ran): Ctrl-C under
  asyncio, ``sys.exit`` on SIGTERM, a timeout by SIGALRM, also where that is an ``Exception``;
* a ``KeyboardInterrupt`` that no ``raise`` statement raised: the default handler's;
* a limit that the application has set (``turnspan.limits``) and that a call would go beyond;
* any other ``BaseException`` that no ``raise`` statement and no ``sys.exit`` raised: it was thrown
  into the thread or greenlet.
"""

from __future__ import annotations

import functools
import opcode
import signal
import sys
import threading
from types import CodeType, TracebackType
from typing import Any, Final

from turnspan.runtime.errors import TurnspanLimitReached
from turnspan.runtime.type_guards import kind_of

_RAISE: Final = frozenset(
    opcode.opmap[name] for name in ("RAISE_VARARGS", "RERAISE") if name in opcode.opmap
)


def delivered(error: BaseException) -> bool:
    """Whether an exception came from outside while our code, or a value's, ran.

    To be asked where it was caught: its traceback begins there.
    """
    if isinstance(error, TurnspanLimitReached):
        return True
    trace = error.__traceback__
    if threading.current_thread() is threading.main_thread() and _handled(trace):
        return True
    if isinstance(error, (Exception, SystemExit)):
        return False
    last = trace
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or _was_raised(last):
        return False
    # Raised by C code: in a frame of ours that is the value's method, unless it was the signal's.
    return type(error) is KeyboardInterrupt or not _is_ours(last)


def _was_raised(trace: TracebackType) -> bool:
    code = trace.tb_frame.f_code.co_code
    at = trace.tb_lasti
    return 0 <= at < len(code) and code[at] in _RAISE


def _is_ours(trace: TracebackType) -> bool:
    return str(trace.tb_frame.f_globals.get("__name__", "")).startswith("turnspan")


def _handled(trace: TracebackType | None) -> bool:
    """Whether a signal's handler is among the frames that an exception passed."""
    passed: set[CodeType] = set()
    while trace is not None:
        passed.add(trace.tb_frame.f_code)
        trace = trace.tb_next
    for number in signal.valid_signals():
        handler = signal.getsignal(number)
        if callable(handler) and _code_of(handler) in passed:
            return True
    return False


def _code_of(handler: Any) -> CodeType | None:
    while isinstance(handler, functools.partial):
        handler = handler.func
    function = getattr(handler, "__func__", handler)
    code = getattr(function, "__code__", None)
    if code is None:  # an object with a method that is called
        call = getattr(kind_of(handler), "__call__", None)  # noqa: B004
        code = getattr(call, "__code__", None)
    return code if isinstance(code, CodeType) else None


def is_cancelled(error: BaseException) -> bool:
    """Whether this is asyncio's cancellation.

    asyncio takes 30 ms to import, so it is looked at only where the application has imported it.
    """
    exceptions = sys.modules.get("asyncio.exceptions")
    return exceptions is not None and isinstance(error, exceptions.CancelledError)


def is_abort(error: BaseException | None) -> bool:
    """Whether the work was stopped from outside: cancelled, interrupted, or its consumer left."""
    if error is None:
        return False
    return isinstance(error, (KeyboardInterrupt, GeneratorExit)) or is_cancelled(error)
