"""Processes that a rerun starts: programs of Python take part in it, others are refused.

Another program would send its requests past the rerun.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from turnspan.patching.patches import Args, Function, Kwargs
from turnspan.wire.rerunning.environment import SERVER, RerunEnvironment
from turnspan.wire.rerunning.inner_patches import ModulePatches
from turnspan.wire.rerunning.redirects import redirects

_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*t?(?:\.exe)?", re.IGNORECASE)
_WITHOUT_SITE: Final = re.compile(r"-[A-VX-Za-bd-ln-z]*[IES]")
"""A group of Python's options (none of -c, -m, -W) with one that leaves ``sitecustomize`` out."""
_HARMLESS: Final = frozenset({"uname", "ldconfig", "file", "lsb_release", "sw_vers"})
"""What Python's own library starts to learn where it runs (``platform``, ``ctypes.util``)."""
_START: Final = 200
"""Bytes of a script that are looked at for its interpreter."""


class ProcessGuard:
    """The audit hook of processes; idle while no rerun is under way."""

    def __init__(self) -> None:
        self._environment: RerunEnvironment | None = None
        self._hooked = False
        self._checks: dict[str, Callable[[Any], None]] = {
            "subprocess.Popen": lambda args: self._check(args[0], args[1], args[3]),
            "os.exec": lambda args: self._check(*args),
            "os.posix_spawn": lambda args: self._check(*args),
            "os.system": lambda args: self._check("sh", [args[0]], None),
        }

    def begin(self, environment: RerunEnvironment) -> None:
        """Look at every process that is started from now on."""
        self._environment = environment
        if not self._hooked:
            self._hooked = True
            sys.addaudithook(self._audit)

    def end(self) -> None:
        """Let every program start."""
        self._environment = None

    def started(self, wrapped: Function, process: Any, args: Args, kwargs: Kwargs) -> Any:
        """Around ``Popen.__init__``: a child that gets variables of its own (as MCP's servers do)
        gets the rerun's as well."""
        environment, own = self._environment, kwargs.get("env")
        if environment is not None and own is not None:
            texts = {os.fsdecode(key): os.fsdecode(own[key]) for key in own}
            kwargs = {**kwargs, "env": {**texts, **environment.variables(texts)}}
        return wrapped(*args, **kwargs)

    def _audit(self, event: str, args: Any) -> None:
        if self._environment is not None and not self._environment.network:
            check = self._checks.get(event)
            if check is not None:
                check(args)

    def _check(self, executable: Any, args: Any, env: Any) -> None:
        words: Sequence[Any] = [args] if isinstance(args, (str, bytes)) else list(args or ())
        program = os.fsdecode(executable if executable is not None else words[0])
        name = os.path.basename(program)
        if name in _HARMLESS:
            return
        if env is not None and not {SERVER, SERVER.encode()} & set(env):
            reason = "it does not inherit the rerun's environment variables"
        elif not runs_python(program):
            reason = "it is no program of Python"
        elif any(map(_WITHOUT_SITE.match, _options(words))):
            reason = "its options -I, -E or -S leave the rerun out"
        else:
            return
        redirects.refuse(
            "unredirected",
            f"the program {name}",
            f"A rerun starts no program that could send requests past it: {program} is refused, "
            f"because {reason}. Where a tool has to start it, name the tool with "
            "`turnspan rerun --live-tools NAME`.",
        )


def _options(words: Sequence[Any]) -> list[str]:
    """The interpreter's own options of a command line."""
    found: list[str] = []
    for word in map(os.fsdecode, words[1:]):
        if not word.startswith("-") or word in ("-c", "-m", "-"):
            break
        found.append(word)
    return found


def runs_python(program: str) -> bool:
    """Whether a program is Python's interpreter, or a script of it."""
    path = shutil.which(program) or program
    is_this_one = os.path.realpath(path) == os.path.realpath(sys.executable)
    if is_this_one or _PYTHON.fullmatch(os.path.basename(path)):
        return True
    try:
        with open(path, "rb") as file:
            start = file.read(_START)
    except OSError:  # to start it fails as well
        return False
    return start[:2] == b"#!" and b"python" in start


processes: Final = ProcessGuard()
"""The process's."""
PATCHES: Final[ModulePatches] = {"subprocess": {"Popen.__init__": processes.started}}
