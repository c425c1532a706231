"""Instrumentations of other packages: which are installed, which of them to enable.

One table of GenAI libraries and one of the families of packages that instrument them. A library is
instrumented once: ours goes before all others, then the families in the order of their table. A
package is loaded when the application imports its library, so enabling costs nothing for what an
application does not use.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from importlib import util
from typing import TYPE_CHECKING, Any, Final, cast

from turnspan.content.given_values import mistaken, nearest
from turnspan.runtime import installed
from turnspan.runtime.errors import ConfigError
from turnspan.runtime.guard import guard, logger
from turnspan.runtime.later import later

if TYPE_CHECKING:
    from importlib import metadata

    from opentelemetry.trace import TracerProvider

GROUP: Final = "opentelemetry_instrumentor"
DISABLED: Final = "OTEL_PYTHON_DISABLED_INSTRUMENTATIONS"
OURS: Final = "turnspan"

_MODULES: Final = {
    "alephalpha": "aleph_alpha_client",
    "bedrock": "boto3",
    "beeai": "beeai_framework",
    "google_adk": "google.adk",
    "google_genai": "google.genai",
    "google_generativeai": "google.generativeai",
    "langchain": "langchain_core",
    "milvus": "pymilvus",
    "openai_agents": "agents",
    "portkey": "portkey_ai",
    "qdrant": "qdrant_client",
    "sagemaker": "boto3",
    "watsonx": "ibm_watsonx_ai",
    "writer": "writerai",
}
"""The modules to wait for of GenAI libraries that are called otherwise."""

LIBRARIES: Final = frozenset(_MODULES) | frozenset(
    (
        *("agno", "anthropic", "autogen", "autogen_agentchat", "chromadb"),
        *("claude_agent_sdk", "cohere", "crewai", "dspy", "groq", "guardrails", "haystack"),
        *("instructor", "lancedb", "litellm", "llama_index", "marqo", "mcp", "mistralai"),
        *("ollama", "openai", "pinecone", "pydantic_ai", "replicate", "smolagents"),
        *("strands", "together", "transformers", "vertexai", "voyageai", "weaviate"),
    )
)
"""GenAI libraries by the name that their instrumentations give them."""

_ALIASES: Final = {
    "llamaindex": "llama_index",
    "google_gen_ai": "google_genai",
    "googlegenai": "google_genai",
    "langgraph": "langchain",
    "mistral": "mistralai",
    "openai_v2": "openai",
    "openai_agents_v2": "openai_agents",
    "strands_agents": "strands",
    "vertex_ai": "vertexai",
    "weaviate_client": "weaviate",
}

_EXTENDED: Final = ("autogen", "crewai", "langchain", "llama_index", "pydantic_ai")
"""Libraries whose packages have their name in front: ``langchain_openai``."""


@dataclass(frozen=True, slots=True)
class Family:
    """Packages of one maker."""

    name: str
    distributions: re.Pattern[str]
    """What their distributions are called; the group is the library."""
    any_library: bool
    """Whether all of them are about GenAI; else those of ``LIBRARIES`` are."""


FAMILIES: Final = (
    Family(
        "OpenTelemetry",
        later(
            r"opentelemetry-instrumentation-"
            r"(?:genai-(?P<new>.+)|(?P<old>google-genai|openai-v2|openai-agents-v2))"
        ),
        True,
    ),
    Family("OpenInference", later(r"openinference-instrumentation-(?P<new>.+)"), True),
    Family("OpenLLMetry", later(r"opentelemetry-instrumentation-(?P<new>.+)"), False),
)
"""In the order of preference."""


@dataclass(frozen=True, slots=True)
class Package:
    """One installed instrumentation of a GenAI library."""

    library: str
    family: str
    distribution: str
    version: str
    entry: metadata.EntryPoint

    @property
    def module(self) -> str:
        """The module of its library."""
        return _MODULES.get(self.library, self.library)

    @property
    def is_there(self) -> bool:
        """Whether its library is installed."""
        return util.find_spec(self.module.partition(".")[0]) is not None

    @property
    def is_seen_imported(self) -> bool:
        """Whether Python says when the library is imported: of a namespace package it does not."""
        spec = util.find_spec(self.module.partition(".")[0])
        return "." in self.module or spec is None or spec.origin is not None


@dataclass(slots=True)
class Choice:
    """A package and why it is not enabled; empty where it is to be."""

    package: Package
    reason: str = ""


def packages() -> list[Package]:
    """The installed instrumentations of GenAI libraries but ours, in the order of preference."""
    found: list[tuple[int, str, Package]] = []
    for entry in installed.entry_points(GROUP):
        if entry.dist is None or entry.name.startswith(f"{OURS}_"):
            continue
        name = distribution_of(entry)
        for place, family in enumerate(FAMILIES):
            library = _library(family, name)
            if library:
                package = Package(
                    library, family.name, name, installed.version_of(entry.dist), entry
                )
                found.append((place, name, package))
                break
    return [package for _, _, package in sorted(found, key=lambda item: item[:2])]


def distribution_of(entry: metadata.EntryPoint) -> str:
    """The normal form of the name of an entry point's distribution; empty where it is unknown."""
    if entry.dist is None:
        return ""
    return re.sub(r"[-_.]+", "-", installed.name_of(entry.dist)).lower()


def _library(family: Family, distribution: str) -> str:
    matched = family.distributions.fullmatch(distribution)
    if matched is None:
        return ""
    called = next(group for group in matched.groups() if group).replace("-", "_")
    library = _ALIASES.get(called, called)
    return library if family.any_library or library in LIBRARIES else ""


def library_of(name: str) -> str:
    """The GenAI library that a module (``google.genai``) or a distribution (``openai-agents``) is
    of; empty for any other. ``boto3`` has far more than models: it is none."""
    called = _plain(name)
    modules = {_plain(module): library for library, module in _MODULES.items()}
    library = modules.get(called, "") or _ALIASES.get(called, called)
    library = next((one for one in _EXTENDED if library.startswith(f"{one}_")), library)
    return library if library in LIBRARIES and called != "boto3" else ""


def disabled(environ: Collection[str] | None = None) -> frozenset[str]:
    """The entry points that OTEL_PYTHON_DISABLED_INSTRUMENTATIONS names; ``*`` is all of them."""
    text = os.environ.get(DISABLED, "") if environ is None else ",".join(environ)
    return frozenset(name.strip() for name in text.split(",") if name.strip())


@dataclass(frozen=True, slots=True)
class InstrumentationChoice:
    """What the caller (``only``, ``exclude``) and the environment want instrumented.

    A name is a library (``langchain``), a distribution (``openinference-instrumentation-openai``)
    or an entry point (``turnspan_openai``).
    """

    only: frozenset[str] | None
    exclude: frozenset[str]
    disabled: frozenset[str]

    @classmethod
    def of(
        cls, only: Iterable[str] | None, exclude: Iterable[str], off: frozenset[str]
    ) -> InstrumentationChoice:
        """With the names written in any way (dashes or underscores); one text is one name."""
        return cls(None if only is None else _names(only), _names(exclude), off)

    def check(self, ours: Collection[str]) -> None:
        """Say of names that nothing has which is meant, and refuse those that mean nothing.

        Raises:
            ConfigError: the text says which.
        """
        known = frozenset({*ours, *(f"{OURS}_{name}" for name in ours), *LIBRARIES, OURS})
        for name in sorted((self.only or frozenset()) | self.exclude):
            spelt = name.replace("_", "-")
            if name in known or any(each.distributions.fullmatch(spelt) for each in FAMILIES):
                continue
            near = nearest(name, known)
            meant = f"is {near!r} meant?" if near else "it takes libraries, such as 'openai'"
            text = f"turnspan.instrument knows nothing that is called {name!r}: {meant}"
            mistaken(ConfigError(text), harmless=bool(near))

    def refused(self, library: str, distribution: str, entry: str) -> str:
        """Why it is not wanted; empty if it is."""
        if entry in self.disabled or "*" in self.disabled:
            return f"switched off by {DISABLED}"
        names = {_plain(library), _plain(distribution)}
        if distribution == OURS:
            names.add(_plain(entry))
        if names & self.exclude:
            return "excluded"
        if self.only is not None and not names & self.only:
            return "not among those asked for"
        return ""


def _names(given: Any) -> frozenset[str]:
    several = isinstance(given, Iterable) and not isinstance(given, str)
    plain = (_plain(str(name)) for name in cast("Iterable[object]", given if several else (given,)))
    return frozenset(_ALIASES.get(name, name) for name in plain)


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(".", "_")


def choose(
    found: Iterable[Package], taken: Collection[str], wanted: InstrumentationChoice
) -> list[Choice]:
    """Which packages to enable: one a library, none of those that are ``taken`` already."""
    owners = dict.fromkeys(taken, OURS)
    choices: list[Choice] = []
    for package in found:
        reason = wanted.refused(package.library, package.distribution, package.entry.name)
        owner = owners.get(package.library)
        if not reason and owner is not None:
            reason = f"{owner} records this library already"
        if not reason and not package.is_there:
            reason = f"{package.library} is not installed"
        if not reason and not package.is_seen_imported:
            reason = f"nothing says when {package.library} is imported: HTTP records it"
        if not reason:
            reason = _conflict(package)
        if not reason:
            owners[package.library] = package.distribution
        choices.append(Choice(package, reason))
    return choices


def _conflict(package: Package) -> str:
    from opentelemetry.instrumentation.dependencies import get_dist_dependency_conflicts

    dist = package.entry.dist
    conflict = get_dist_dependency_conflicts(dist) if dist is not None else None
    if conflict is None or (conflict.found is None and package.is_there):
        return ""  # also where it lists what it does not need: what it does is asked later
    wanted = conflict.required or ", ".join(conflict.required_any or ())
    return f"made for {wanted}" + (f", found {conflict.found}" if conflict.found else "")


@dataclass(slots=True)
class Enabled:
    """A package that was told to instrument its library, now or when it is imported."""

    package: Package
    provider: TracerProvider | None
    instrumentor: Any = None
    refusal: str = ""
    active: bool = True
    was_on: bool = False
    """Whether the application (or opentelemetry-instrument) had enabled it before."""

    def start(self) -> None:
        """Instrument the library as soon as it is imported. Never raises."""
        import wrapt

        if self.imported or not self.package.is_there:
            self._load(None)
        else:
            wrapt.register_post_import_hook(self._load, self.package.module)

    @property
    def imported(self) -> bool:
        """Whether the application has imported the library."""
        return self.package.module in sys.modules

    def _load(self, module: Any) -> None:
        with guard(f"instrument {self.package.distribution}"):
            if self.instrumentor is not None or not self.active:
                return
            try:
                self._instrument()
            except Exception as error:  # noqa: BLE001  another package's bug is not ours to count
                self.refusal = f"{type(error).__name__}: {error}"[:300]
                logger.warning(
                    "%s %s cannot instrument %s: %s.",
                    self.package.distribution,
                    self.package.version,
                    self.package.library,
                    self.refusal,
                )

    def _instrument(self) -> None:
        from opentelemetry.instrumentation.dependencies import get_dependency_conflicts

        instrumentor = self.package.entry.load()()
        self.was_on = bool(getattr(instrumentor, "is_instrumented_by_opentelemetry", False))
        if not self.was_on:
            conflict = get_dependency_conflicts(instrumentor.instrumentation_dependencies())
            if conflict is not None:
                raise RuntimeError(f"it is made for {conflict.required or conflict.required_any}")
            arguments: dict[str, Any] = {"skip_dep_check": True}
            if self.provider is not None:
                arguments["tracer_provider"] = self.provider
            instrumentor.instrument(**arguments)
        self.instrumentor = instrumentor

    def stop(self) -> None:
        """Give the library its own functions back, unless somebody else had enabled it."""
        self.active = False
        if self.instrumentor is not None and not self.was_on:
            self.instrumentor.uninstrument()
        self.instrumentor = None
