"""The build backend: hatchling, and a hook that compiles the modules on the way of a call to C.

    TURNSPAN_COMPILE unset   compiled where there is a C compiler with Python's headers, else pure
    TURNSPAN_COMPILE=1       compiled, or no wheel
    TURNSPAN_COMPILE=0       pure Python, the same wheel on every platform
    TURNSPAN_REPOSITORY      the address of the repository, of which the project's links are made
    TURNSPAN_SITE            the address of the documentation
    MYPYC_OPT_LEVEL=0        compiled in less time, for tests (3 unless it is said)

An editable installation is always pure. What is compiled is the very same code, by mypyc, from its
type annotations (but see ``written_out``); a compiled wheel is the pure one and its extension
modules, beside their sources.
"""

from __future__ import annotations

import ast
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
from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]


class ProjectLinks(MetadataHookInterface):
    """The project's links, from where it is built: no address stands in the sources."""

    def update(self, metadata: dict[str, Any]) -> None:
        repository = os.environ.get("TURNSPAN_REPOSITORY", "").rstrip("/")
        site = os.environ.get("TURNSPAN_SITE", "").rstrip("/")
        links = {"Homepage": site or repository, "Documentation": site, "Repository": repository}
        if repository:
            links["Issues"] = f"{repository}/issues"
            links["Changelog"] = f"{repository}/blob/v{metadata['version']}/CHANGELOG.md"
        metadata["urls"] = {name: address for name, address in links.items() if address}


COMPILER = ("mypy[mypyc]==2.4.1", "setuptools>=77")
"""The compiler is pinned: another one's types or code may differ, and wheels are to be the same."""

ROOTS = {"turnspan": "instrument", "turnspan_clickhouse": "exporter"}
"""Top-level packages and the folders that they lie in."""

COMPILED = (
    "turnspan/semconv.py",
    # The calling thread.
    "turnspan/tracing/agent_recording.py",
    "turnspan/tracing/arguments.py",
    "turnspan/tracing/context.py",
    "turnspan/turn/tool_history.py",
    "turnspan/tracing/framework_sessions.py",
    "turnspan/turn/loop_detector.py",
    "turnspan/turn/tool_failure.py",
    "turnspan/tracing/recording.py",
    "turnspan/tracing/otel_fast.py",
    "turnspan/runtime/otel_private.py",
    "turnspan/turn/stop_reasons.py",
    "turnspan/tracing/tool_recording.py",
    "turnspan/tracing/content_store.py",
    "turnspan/tracing/loop_facts.py",
    "turnspan/tracing/consortium_facts.py",
    "turnspan/tracing/state.py",
    "turnspan/tracing/begin_call.py",
    "turnspan/tracing/model_call.py",
    "turnspan/tracing/manual_endpoint.py",
    "turnspan/tracing/endpoint.py",
    "turnspan/tracing/provider_errors.py",
    "turnspan/tracing/request_parameters.py",
    "turnspan/providers/background.py",
    "turnspan/providers/anthropic/messages.py",
    "turnspan/providers/google_genai/content.py",
    "turnspan/providers/google_genai/embeddings.py",
    "turnspan/providers/google_genai/interactions.py",
    "turnspan/providers/litellm/calls.py",
    "turnspan/providers/llm/replies.py",
    "turnspan/providers/openai/chat.py",
    "turnspan/providers/openai/completions.py",
    "turnspan/providers/openai/embeddings.py",
    "turnspan/providers/openai/events.py",
    "turnspan/providers/openai/pieces.py",
    "turnspan/providers/openai/realtime.py",
    "turnspan/providers/openai/responses.py",
    "turnspan/providers/openai/usage.py",
    "turnspan/content/equality.py",
    "turnspan/content/text_message.py",
    "turnspan/wire/model_request.py",
    "turnspan/runtime/type_guards.py",
    "turnspan/content/sizes.py",
    "turnspan/content/frozen_history.py",
    "turnspan/content/snapshot.py",
    # The worker.
    "turnspan/runtime/throttle.py",
    "turnspan/dialects/anthropic_messages.py",
    "turnspan/content/json_codec.py",
    "turnspan/dialects/convert.py",
    "turnspan/dialects/gemini.py",
    "turnspan/dialects/gemini_interactions.py",
    "turnspan/dialects/genai.py",
    "turnspan/redaction/content_keys.py",
    "turnspan/redaction/truncate.py",
    "turnspan/content/model.py",
    "turnspan/dialects/openai_chat.py",
    "turnspan/dialects/openai_responses.py",
    "turnspan/dialects/openai_tool_calls.py",
    "turnspan/dialects/request_fields.py",
    "turnspan/redaction/redactor.py",
    "turnspan/content/media.py",
    "turnspan/redaction/command_lines.py",
    "turnspan/redaction/named_secrets.py",
    "turnspan/redaction/secret_names.py",
    "turnspan/dialects/openai_items.py",
    "turnspan/redaction/secrets.py",
    "turnspan/redaction/found.py",
    "turnspan/redaction/vendor_secrets.py",
    "turnspan_clickhouse/rows/batch.py",
    "turnspan_clickhouse/rows/columns.py",
    "turnspan_clickhouse/rows/native_encoder.py",
    "turnspan_clickhouse/pricing/prices.py",
    "turnspan_clickhouse/pricing/rates.py",
    "turnspan_clickhouse/rows/tables.py",
    "turnspan_clickhouse/rows/record.py",
    "turnspan_clickhouse/rows/loop_tables.py",
    "turnspan_clickhouse/rows/judgment_tables.py",
    "turnspan_clickhouse/rows/context_tables.py",
    "turnspan_clickhouse/rows/consortium_tables.py",
    "turnspan_clickhouse/rows/dataset_tables.py",
    "turnspan_clickhouse/rows/keeping_tables.py",
    "turnspan_clickhouse/rows/running_call.py",
    "turnspan_clickhouse/rows/native_types.py",
    "turnspan_clickhouse/normalise/normaliser.py",
    "turnspan_clickhouse/normalise/agent_spans.py",
    "turnspan_clickhouse/normalise/attributes.py",
    "turnspan_clickhouse/normalise/fact_rows.py",
    "turnspan_clickhouse/normalise/row_context.py",
    "turnspan_clickhouse/normalise/loop_rows.py",
    "turnspan_clickhouse/normalise/consortium_rows.py",
    "turnspan_clickhouse/normalise/conversations.py",
    "turnspan_clickhouse/normalise/derived_tools.py",
    "turnspan_clickhouse/normalise/derived_turns.py",
    "turnspan_clickhouse/normalise/history_keys.py",
    "turnspan_clickhouse/normalise/llm_call.py",
    "turnspan_clickhouse/normalise/message_store.py",
    "turnspan_clickhouse/normalise/model_calls.py",
    "turnspan_clickhouse/normalise/nesting.py",
    "turnspan_clickhouse/normalise/call_index.py",
    "turnspan_clickhouse/normalise/other_rows.py",
    "turnspan_clickhouse/normalise/decorated_turns.py",
    "turnspan_clickhouse/normalise/requested_tools.py",
    "turnspan_clickhouse/normalise/duplicates.py",
    "turnspan_clickhouse/normalise/span_facts.py",
    "turnspan_clickhouse/normalise/derived_turn.py",
    "turnspan_clickhouse/normalise/turn_facts.py",
    "turnspan_clickhouse/normalise/column_values.py",
    "turnspan_clickhouse/normalise/content_columns.py",
)


WRITTEN_OUT = ("LlmCall", "SpanRow", "ToolCall", "MessageRow", "TurnSummary")
"""The classes of ``rows/tables.py`` that take many rows."""


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


_FLAGS = (
    # Our functions call each other directly, not through the linker's table, and may be inlined.
    "-fno-semantic-interposition",
    # Macros first, then compile: GCC 12 takes 25 s instead of 140 for the one large file.
    "-no-integrated-cpp",
    # Which then warns of parentheses that macros brought.
    "-Wno-error",
)
"""For compilers that take GCC's options."""


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
    rows = folder / "turnspan_clickhouse/rows"
    sources = [(rows / name).read_text("utf-8") for name in ("record.py", "tables.py")]
    text = written_out(*sources)
    (rows / "columns.py").write_text(text, encoding="utf-8")
    before, argv = Path.cwd(), sys.argv
    os.chdir(folder)  # mypyc names modules by their paths from here
    try:
        options = ["--ignore-missing-imports", "--config-file=", "--python-version=3.10"]
        level = os.environ.get("MYPYC_OPT_LEVEL", "3")
        extensions = mypycify(
            [*options, *COMPILED], opt_level=level, group_name="turnspan", debug_level="0"
        )
        if sys.platform != "win32":
            for extension in extensions:  # they share one list
                extension.extra_compile_args = [*extension.extra_compile_args, *_FLAGS]
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


def written_out(*sources: str) -> str:
    """The ``rows/columns.py`` that is compiled, which names every column of the classes in
    ``WRITTEN_OUT``: from the texts of ``rows/record.py`` and ``tables.py``."""
    found = (node for source in sources for node in ast.parse(source).body)
    classes = {node.name: node for node in found if isinstance(node, ast.ClassDef)}

    def names(kind: str) -> list[str]:
        if kind not in classes:
            return []
        fields = [
            node.target
            for node in classes[kind].body
            if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Call)
        ]
        inherited = [name for base in classes[kind].bases for name in names(ast.unparse(base))]
        return inherited + [ast.unparse(field) for field in fields]

    text = f"""
from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from turnspan_clickhouse.rows.tables import {", ".join(WRITTEN_OUT)}, Record, columns


def columns_of(kind: type[Record], rows: Sequence[Record]) -> list[Sequence[Any]]:
    known: Any = list(rows)
"""
    for kind in WRITTEN_OUT:
        text += f"    if kind is {kind}:\n        return _{kind}(known)\n"
    text += "    return [list(map(attrgetter(name), rows)) for name, _ in columns(kind)]\n"
    for kind in WRITTEN_OUT:
        text += f"def _{kind}(rows: list[{kind}]) -> list[Sequence[Any]]:\n"
        text += f"    return [{', '.join(f'[r.{name} for r in rows]' for name in names(kind))}]\n"
    return text
