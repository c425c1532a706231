"""The build backend: hatchling, and a hook that compiles the modules on the way of a call to C.

    TURNSPAN_COMPILE unset   compiled where there is a C compiler with Python's headers, else pure
    TURNSPAN_COMPILE=1       compiled, or no wheel
    TURNSPAN_COMPILE=0       pure Python, the same wheel on every platform

An editable installation is always pure. What is compiled is the very same code, by mypyc, from its
type annotations; a compiled wheel is the pure one and its extension modules, beside their sources.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.build import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)
from hatchling.build import get_requires_for_build_wheel as hatchling_requires
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

COMPILER = ("mypy[mypyc]==2.4.1", "setuptools>=77")
"""The compiler is pinned: another one's types or code may differ, and wheels are to be the same."""

ROOTS = {"turnspan": "instrument", "turnspan_clickhouse": "exporter"}
"""Top-level packages and the folders that they lie in."""

COMPILED = (
    "turnspan/semconv.py",
    # The calling thread.
    "turnspan/agents.py",
    "turnspan/arguments.py",
    "turnspan/context.py",
    "turnspan/executed.py",
    "turnspan/framework_sessions.py",
    "turnspan/loops.py",
    "turnspan/outcomes.py",
    "turnspan/recording.py",
    "turnspan/spans.py",
    "turnspan/stops.py",
    "turnspan/tools.py",
    "turnspan/content/ledger.py",
    "turnspan/patching/call.py",
    "turnspan/patching/endpoint.py",
    "turnspan/patching/failures.py",
    "turnspan/patching/parameters.py",
    "turnspan/providers/anthropic_messages.py",
    "turnspan/providers/gemini_content.py",
    "turnspan/providers/gemini_embeddings.py",
    "turnspan/providers/litellm_calls.py",
    "turnspan/providers/openai_chat.py",
    "turnspan/providers/openai_completions.py",
    "turnspan/providers/openai_embeddings.py",
    "turnspan/providers/openai_events.py",
    "turnspan/providers/openai_pieces.py",
    "turnspan/providers/openai_responses.py",
    "turnspan/providers/openai_usage.py",
    "turnspan/content/alike.py",
    "turnspan/content/lean.py",
    "turnspan/content/shapes.py",
    "turnspan/content/sizes.py",
    "turnspan/content/snapshot.py",
    # The worker.
    "turnspan/pace.py",
    "turnspan/content/anthropic_messages.py",
    "turnspan/content/blocks.py",
    "turnspan/content/convert.py",
    "turnspan/content/gemini.py",
    "turnspan/content/genai.py",
    "turnspan/content/keys.py",
    "turnspan/content/limit.py",
    "turnspan/content/model.py",
    "turnspan/content/openai_chat.py",
    "turnspan/content/openai_responses.py",
    "turnspan/content/openai_tool_calls.py",
    "turnspan/content/rebuild.py",
    "turnspan/content/redact.py",
    "turnspan/content/reduce.py",
    "turnspan/content/bare.py",
    "turnspan/content/commands.py",
    "turnspan/content/letters.py",
    "turnspan/content/named.py",
    "turnspan/content/names.py",
    "turnspan/content/response_items.py",
    "turnspan/content/secrets.py",
    "turnspan/content/spans.py",
    "turnspan/content/vendors.py",
    "turnspan_clickhouse/batch.py",
    "turnspan_clickhouse/cells.py",
    "turnspan_clickhouse/encode.py",
    "turnspan_clickhouse/pricing.py",
    "turnspan_clickhouse/records.py",
    "turnspan_clickhouse/wire.py",
    "turnspan_clickhouse/normalise/__init__.py",
    "turnspan_clickhouse/normalise/agents.py",
    "turnspan_clickhouse/normalise/attributes.py",
    "turnspan_clickhouse/normalise/background.py",
    "turnspan_clickhouse/normalise/conversations.py",
    "turnspan_clickhouse/normalise/derived.py",
    "turnspan_clickhouse/normalise/history.py",
    "turnspan_clickhouse/normalise/inference.py",
    "turnspan_clickhouse/normalise/landing.py",
    "turnspan_clickhouse/normalise/nesting.py",
    "turnspan_clickhouse/normalise/news.py",
    "turnspan_clickhouse/normalise/nodes.py",
    "turnspan_clickhouse/normalise/open_turns.py",
    "turnspan_clickhouse/normalise/others.py",
    "turnspan_clickhouse/normalise/requested.py",
    "turnspan_clickhouse/normalise/seen.py",
    "turnspan_clickhouse/normalise/sightings.py",
    "turnspan_clickhouse/normalise/source.py",
    "turnspan_clickhouse/normalise/turns.py",
    "turnspan_clickhouse/normalise/told.py",
    "turnspan_clickhouse/normalise/values.py",
    "turnspan_clickhouse/normalise/written.py",
)


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """What a wheel needs in the build's environment: to compile, also the types of what we use."""
    requires = hatchling_requires(config_settings)
    if lacks_to_compile():
        return requires
    from hatchling.builders.wheel import WheelBuilder

    builder = WheelBuilder(str(Path.cwd()))
    core: Any = getattr(builder, "metadata").core  # noqa: B009  a generic type, unbound
    return [*requires, *COMPILER, *core.dependencies]


class CompiledWheel(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel, beside their sources."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together."""
        if self.target_name != "wheel" or version == "editable":
            return
        if lack := lacks_to_compile():
            self.app.display_warning(f"Turnspan: a wheel of pure Python, since {lack}.")
            return
        self._folder = tempfile.mkdtemp(prefix="turnspan-compile-")
        try:
            found = compile_into(Path(self.root), Path(self._folder))
        except (Exception, SystemExit) as error:  # what a compiler fails with
            if _asked() == "1":
                raise
            self.app.display_warning(
                f"Turnspan: a wheel of pure Python, since compiling failed: {error}"
            )
            return
        build_data["force_include"].update({str(path): name for name, path in found.items()})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave nothing behind."""
        shutil.rmtree(getattr(self, "_folder", ""), ignore_errors=True)


_FLAGS = [] if sys.platform == "win32" else ["-fno-semantic-interposition"]
"""Our functions call each other directly, not through the linker's table, and may be inlined."""


def lacks_to_compile() -> str:
    """Why a wheel built here is pure; empty where it is compiled.

    Raises:
        RuntimeError: TURNSPAN_COMPILE=1, and it cannot be.
    """
    asked = _asked()
    if asked == "0":
        return "TURNSPAN_COMPILE is 0"
    lack = _missing()
    if lack and asked == "1":
        raise RuntimeError(f"TURNSPAN_COMPILE is 1, but {lack}.")
    return lack


def _asked() -> str:
    text = os.environ.get("TURNSPAN_COMPILE", "").strip()
    if text not in ("", "0", "1"):
        raise RuntimeError(f"TURNSPAN_COMPILE is {text!r}: write 1 or 0, or leave it out.")
    return text


def _missing() -> str:
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "only CPython with its global lock is compiled for"
    if sys.platform == "win32":  # where setuptools looks for it, too
        programs = os.environ.get("PROGRAMFILES(X86)", "")
        finder = Path(programs, "Microsoft Visual Studio", "Installer", "vswhere.exe")
        return "" if finder.is_file() or shutil.which("cl") else "there is no Visual C++"
    compiler = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0]
    if not shutil.which(compiler):
        return f"there is no C compiler ({compiler}; Debian: apt install gcc)"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        return "Python's headers are not there (Debian: apt install python3-dev)"
    return ""


def compile_into(root: Path, folder: Path) -> dict[str, Path]:
    """Compile; returns the extension modules by their place in the wheel."""
    from mypyc.build import mypycify
    from setuptools import Distribution
    from setuptools.command.build_ext import build_ext

    for package, where in ROOTS.items():
        shutil.copytree(root / where / package, folder / package)
    before, argv = Path.cwd(), sys.argv
    os.chdir(folder)  # mypyc names modules by their paths from here
    try:
        options = ["--ignore-missing-imports", "--config-file=", "--python-version=3.10"]
        extensions = mypycify([*options, *COMPILED], group_name="turnspan", debug_level="0")
        for extension in extensions:
            extension.extra_compile_args += _FLAGS
        command = build_ext(Distribution({"name": "turnspan", "ext_modules": extensions}))
        command.parallel = os.cpu_count()
        command.build_lib = "built"
        command.ensure_finalized()
        command.run()
        built = folder / "built"
        return {str(path.relative_to(built)): path for path in built.rglob("*.*") if path.is_file()}
    finally:
        os.chdir(before)
        sys.argv = argv
