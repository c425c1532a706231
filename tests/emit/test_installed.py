"""``turnspan.instrument()`` enables what other packages are installed, one a library."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import turnspan
from turnspan import instrumentation
from turnspan.auto import TurnspanDistro
from turnspan.instrumentation import Instrumented

INSTRUMENTOR = """
from opentelemetry.instrumentation.instrumentor import BaseInstrumentor

class Instrumentor(BaseInstrumentor):
    def instrumentation_dependencies(self):
        return ()

    def _instrument(self, **kwargs):
        {body}

    def _uninstrument(self, **kwargs):
        import {library}
        {library}.recorded = False
"""


class Site:
    """A folder of installed distributions, on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def library(self, name: str) -> None:
        """A library that can be imported."""
        (self.folder / f"{name}.py").write_text("recorded = False\n")

    def package(
        self, distribution: str, entry: str, library: str, body: str = "", requires: str = ""
    ) -> None:
        """An instrumentation of a library, with a real instrumentor in it."""
        module = distribution.replace("-", "_")
        body = body or f"import {library}; {library}.recorded = True"
        code = INSTRUMENTOR.format(body=body, library=library)
        (self.folder / f"{module}.py").write_text(code)
        info = self.folder / f"{module}-1.0.dist-info"
        info.mkdir()
        metadata = f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n"
        if requires:
            metadata += f"Provides-Extra: instruments\nRequires-Dist: {requires}\n"
        (info / "METADATA").write_text(metadata)
        entries = f"[opentelemetry_instrumentor]\n{entry} = {module}:Instrumentor\n"
        (info / "entry_points.txt").write_text(entries)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty site; what was imported from it is forgotten afterwards."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    before = set(sys.modules)
    yield Site(tmp_path)
    turnspan.uninstrument()
    for name in set(sys.modules) - before:
        found = getattr(sys.modules[name], "__file__", None)
        if found and found.startswith(str(tmp_path)):
            del sys.modules[name]


def of(found: list[Instrumented], by: str) -> Instrumented:
    """What became of one package."""
    return next(one for one in found if one.by == by)


def test_the_official_package_goes_before_the_others(site: Site) -> None:
    """Of three for one library one is enabled, once the application imports the library."""
    site.library("groq")
    site.package("opentelemetry-instrumentation-groq", "groq", "groq")
    site.package("openinference-instrumentation-groq", "groq", "groq")
    site.package("opentelemetry-instrumentation-genai-groq", "groq", "groq")

    found = turnspan.instrument()
    official = of(found, "opentelemetry-instrumentation-genai-groq")
    assert official.enabled
    assert official.detail == "waits for the application to import it"
    for other in ("opentelemetry-instrumentation-groq", "openinference-instrumentation-groq"):
        assert not of(found, other).enabled
        assert of(found, other).detail == (
            "opentelemetry-instrumentation-genai-groq records this library already"
        )

    import groq  # type: ignore[import-not-found]  # pyright: ignore

    assert groq.recorded  # pyright: ignore
    assert of(instrumentation.report(), official.by).detail == ""
    turnspan.uninstrument()
    assert not groq.recorded  # pyright: ignore


def test_ours_goes_before_every_other(site: Site) -> None:
    """A package for an SDK of ours stays off, unless ours was excluded."""
    site.package("openinference-instrumentation-openai", "openai", "openai", body="pass")
    theirs = "openinference-instrumentation-openai"

    assert of(turnspan.instrument(), theirs).detail == "turnspan records this library already"
    turnspan.uninstrument()
    found = turnspan.instrument(exclude=["turnspan_openai"])
    assert of(found, theirs).enabled
    assert not found[0].enabled
    assert found[0].detail == "excluded"


def test_only_exclude_and_the_standard_variable_choose(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By library, by distribution, by entry point."""
    for name in ("groq", "ollama"):
        site.library(name)
        site.package(f"openinference-instrumentation-{name}", name, name)

    found = turnspan.instrument(only=["groq"])
    assert [one.name for one in found if one.enabled] == ["groq"]
    turnspan.uninstrument()
    found = turnspan.instrument(exclude=["openinference-instrumentation-groq"])
    assert not of(found, "openinference-instrumentation-groq").enabled
    assert of(found, "openinference-instrumentation-ollama").enabled
    turnspan.uninstrument()
    monkeypatch.setenv("OTEL_PYTHON_DISABLED_INSTRUMENTATIONS", "ollama, turnspan_mcp")
    found = turnspan.instrument()
    assert "OTEL_PYTHON_DISABLED" in of(found, "openinference-instrumentation-ollama").detail
    assert of(found, "openinference-instrumentation-groq").enabled
    assert not next(one for one in found if one.name == "mcp").enabled


def test_a_package_that_fails_is_reported_and_nothing_is_raised(site: Site) -> None:
    """The application goes on; the report says what the package said."""
    site.library("cohere")
    site.package(
        "openinference-instrumentation-cohere", "cohere", "cohere", body="raise KeyError('chat')"
    )
    turnspan.instrument()

    import cohere  # type: ignore[import-not-found]  # pyright: ignore

    assert not cohere.recorded  # pyright: ignore
    told = of(instrumentation.report(), "openinference-instrumentation-cohere")
    assert not told.enabled
    assert "KeyError: 'chat'" in told.detail


def test_what_does_not_fit_or_is_not_there_is_left_off(site: Site) -> None:
    """A missing library, an unsupported version, and packages that are about no GenAI library."""
    site.package("openinference-instrumentation-dspy", "dspy", "dspy")
    site.library("agno")
    site.package(
        "openinference-instrumentation-agno",
        "agno",
        "agno",
        requires='pytest>9999; extra=="instruments"',
    )
    site.package("opentelemetry-instrumentation-flask", "flask", "flask")
    found = turnspan.instrument()

    assert of(found, "openinference-instrumentation-dspy").detail == "dspy is not installed"
    assert of(found, "openinference-instrumentation-agno").detail.startswith("made for pytest>9999")
    assert not any(one.by == "opentelemetry-instrumentation-flask" for one in found)


def test_opentelemetry_instrument_loads_one_a_library(site: Site) -> None:
    """Our distribution leaves off what another one records."""
    from turnspan.patching.third_party import packages

    site.library("groq")
    site.package("opentelemetry-instrumentation-groq", "groq", "groq")
    site.package("openinference-instrumentation-groq", "groq", "groq", body="pass")
    distro = TurnspanDistro()
    for package in packages():
        distro.load_instrumentor(package.entry, skip_dep_check=True)

    import groq  # pyright: ignore

    assert not groq.recorded  # pyright: ignore
