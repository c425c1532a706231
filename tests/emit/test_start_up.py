"""What a process that makes one call does not pay for."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module, metadata
from importlib.metadata import Distribution
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest
from opentelemetry.instrumentation.instrumentor import (  # type: ignore[attr-defined]  # it opts out of type checks
    BaseInstrumentor,
)
from packaging.requirements import Requirement

import turnspan
import turnspan_clickhouse
from turnspan import instrumentation
from turnspan.redaction.secret_rules import RULES, compiled
from turnspan.runtime import installed

_BASE: Any = BaseInstrumentor

LOADED = """
import sys
{before}
import openai
print(*sorted(name for name in sys.modules if name.startswith("openai")))
"""
RECORDED = """
import sys
import turnspan
turnspan.configure(store=sys.argv[1])
turnspan.instrument()
print(*sorted(sys.modules))
"""


def run(code: str, *arguments: str) -> set[str]:
    """What a process of its own prints."""
    command = [sys.executable, "-c", code, *arguments]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def test_expressions_that_are_compiled_when_first_used_can_be() -> None:
    """Those of every module, and of every rule of secrets."""
    for package in (turnspan, turnspan_clickhouse):
        for module in walk_packages(package.__path__, f"{package.__name__}."):
            import_module(module.name)
    gc.unfreeze()  # objects of support.imported_modules are not told otherwise
    waiting: list[Any] = [each for each in gc.get_objects() if type(each).__name__ == "_Later"]
    gc.freeze()

    assert len(waiting) > 100
    assert all(isinstance(each.search.__self__, re.Pattern) for each in waiting)
    assert all(compiled(rule.pattern) for rule in RULES)


def test_what_is_installed_is_told_as_the_standard_library_tells_it() -> None:
    """Names, versions and entry points of everything that is installed here."""
    distributions = [*metadata.distributions()]
    groups = {entry.group for each in distributions for entry in each.entry_points}

    assert len(distributions) > 20
    for each in distributions:
        assert installed.name_of(each) == each.metadata["Name"]
        assert installed.version_of(each) == each.version
    for group in groups:
        assert installed.entry_points(group) == [*metadata.entry_points(group=group)]
    assert installed.version("turnspan") == turnspan.__version__
    assert installed.version("no-such-package") == ""


def test_a_package_that_is_installed_meanwhile_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a notebook."""
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert installed.entry_points("of_a_test") == []
    folder = tmp_path / "late-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: late\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[of_a_test]\none = late:One\n")

    assert [entry.name for entry in installed.entry_points("of_a_test")] == ["one"]


class Release(Distribution):
    """Some package in some version."""

    def __init__(self, version: str) -> None:
        self._version = version

    def read_text(self, filename: str) -> str | None:
        """Its metadata."""
        return f"Name: it\nVersion: {self._version}\n\nVersion: 0\n"

    def locate_file(self, path: Any) -> Any:
        """Nowhere."""
        raise NotImplementedError


def found(version: str) -> Callable[[str], Distribution]:
    """Finds everything, in this version."""

    def distribution(_: str) -> Distribution:
        return Release(version)

    return distribution


@pytest.mark.parametrize("version", ["0.9", "1.40", "1.40.0", "1.39.9", "1.100", "3.99.1", "4.0.0"])
@pytest.mark.parametrize("wanted", [">= 1.40, < 4", ">= 1.40.0", "< 4", ">= 1.0, < 3"])
def test_releases_are_compared_as_packaging_does(
    version: str, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which takes 10 ms to be loaded."""
    monkeypatch.setattr("importlib.metadata.distribution", found(version))

    assert installed.fits(f"it {wanted}") == Requirement(f"it {wanted}").specifier.contains(version)


@pytest.mark.parametrize("version", ["2.0.0rc1", "2.0.post1", "2.0+local", "", "2.x"])
def test_what_is_no_release_is_left_to_packaging(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And so are other operators."""
    monkeypatch.setattr("importlib.metadata.distribution", found(version))

    assert not installed.fits("it >= 1")
    assert not installed.fits("it ~= 2.0")


def test_the_instrumentors_are_opentelemetrys_to_whoever_asks() -> None:
    """They do not inherit, since to import it loads packaging; what they ask for is understood."""
    rows: tuple[tuple[str, str, str], ...] = vars(instrumentation)["_INSTRUMENTORS"]
    names: dict[str, str] = vars(instrumentation)["_DISTRIBUTIONS"]
    for name, module, kind in rows:
        instrumentor: Any = getattr(import_module(module), kind)()
        assert isinstance(instrumentor, _BASE)
        for wanted in instrumentor.instrumentation_dependencies():
            assert installed.version(Requirement(wanted).name) == instrumentor.version
            assert installed.fits(wanted) is bool(instrumentor.version)
        if name not in ("threads", "http"):
            assert (instrumentor.distribution or instrumentor.package) == names.get(name, name)


def test_no_more_of_an_sdk_is_loaded_than_without_turnspan() -> None:
    """OpenAI's loads what helps with streams of responses when it is asked for, in 60 ms."""
    plain = run(LOADED.format(before=""))

    assert plain == run(LOADED.format(before="import turnspan; turnspan.instrument()"))


def test_an_embedded_store_loads_nothing_that_ships(tmp_path: Path) -> None:
    """Nor what compares versions, nor a database's driver."""
    loaded = run(RECORDED, f"chdb://{tmp_path / 'store'}")

    assert "turnspan_clickhouse.exporter" in loaded
    unwanted = {"clickhouse_connect", "packaging", "turnspan_clickhouse.ship.shipper", "urllib3"}
    assert not unwanted & loaded
