"""The build hook: compiles the modules on the way of a call to C, where a build asks for it.

    TURNSPAN_COMPILE=1 pip install .

Without that (and always in an editable installation) the wheel is pure Python and the same on every
platform. What is compiled is the very same code, by mypyc, from its type annotations.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOTS = {"turnspan": "instrument", "turnspan_clickhouse": "exporter"}
"""Top-level packages and the folders that they lie in."""

COMPILED = (
    "turnspan/semconv.py",
    # The calling thread.
    "turnspan/agents.py",
    "turnspan/arguments.py",
    "turnspan/context.py",
    "turnspan/executed.py",
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
    "turnspan/providers/openai_chat.py",
    "turnspan/providers/openai_completions.py",
    "turnspan/providers/openai_embeddings.py",
    "turnspan/providers/openai_events.py",
    "turnspan/providers/openai_pieces.py",
    "turnspan/providers/openai_responses.py",
    "turnspan/providers/openai_usage.py",
    "turnspan/content/lean.py",
    "turnspan/content/shapes.py",
    "turnspan/content/snapshot.py",
    # The worker.
    "turnspan/pace.py",
    "turnspan/content/anthropic_messages.py",
    "turnspan/content/blocks.py",
    "turnspan/content/convert.py",
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
    "turnspan/content/response_items.py",
    "turnspan/content/secrets.py",
    "turnspan_clickhouse/batch.py",
    "turnspan_clickhouse/cells.py",
    "turnspan_clickhouse/encode.py",
    "turnspan_clickhouse/pricing.py",
    "turnspan_clickhouse/records.py",
    "turnspan_clickhouse/wire.py",
    "turnspan_clickhouse/normalise/__init__.py",
    "turnspan_clickhouse/normalise/attributes.py",
    "turnspan_clickhouse/normalise/background.py",
    "turnspan_clickhouse/normalise/conversations.py",
    "turnspan_clickhouse/normalise/derived.py",
    "turnspan_clickhouse/normalise/inference.py",
    "turnspan_clickhouse/normalise/landing.py",
    "turnspan_clickhouse/normalise/nesting.py",
    "turnspan_clickhouse/normalise/others.py",
    "turnspan_clickhouse/normalise/requested.py",
    "turnspan_clickhouse/normalise/seen.py",
    "turnspan_clickhouse/normalise/source.py",
    "turnspan_clickhouse/normalise/told.py",
    "turnspan_clickhouse/normalise/values.py",
    "turnspan_clickhouse/normalise/written.py",
)


class CompiledWheel(BuildHookInterface[Any]):
    """Adds the compiled modules to a wheel, beside their sources."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What compiling needs in the build's environment: the types of what we use, too."""
        if not _wanted():
            return []
        core: Any = getattr(self, "metadata").core  # noqa: B009  a generic type, unbound
        return ["mypy[mypyc]>=1.18", "setuptools>=68", *core.dependencies]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile before the wheel is put together."""
        if self.target_name != "wheel" or version == "editable" or not _wanted():
            return
        self._folder = tempfile.mkdtemp(prefix="turnspan-compile-")
        found = compile_into(Path(self.root), Path(self._folder))
        build_data["force_include"].update({str(path): name for name, path in found.items()})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Leave nothing behind."""
        shutil.rmtree(getattr(self, "_folder", ""), ignore_errors=True)


_FLAGS = [] if sys.platform == "win32" else ["-fno-semantic-interposition"]
"""Our functions call each other directly, not through the linker's table, and may be inlined."""


def _wanted() -> bool:
    return os.environ.get("TURNSPAN_COMPILE", "") not in ("", "0")


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
