"""The bills of materials: valid, whole, and the same from the same sources."""

from __future__ import annotations

import importlib
import json
import runpy
from typing import Any

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

from support.shared import REPOSITORY

SBOM = runpy.run_path(str(REPOSITORY / ".ci" / "sbom.py"))


def scopes(text: str) -> dict[str, str]:
    bill: dict[str, Any] = json.loads(text)
    return {each["purl"].partition(":")[2]: each["scope"] for each in bill["components"]}


def test_the_bills_name_every_pinned_package_and_whom_it_reaches() -> None:
    """By CycloneDX's own JSON schema, without a field that it does not have."""
    texts: dict[str, str] = SBOM["texts"]()
    assert texts == SBOM["texts"]()
    # Not when tests are collected: to import it takes 2 s, in each process of a parallel run.
    schema, validation = (
        importlib.import_module(f"cyclonedx.{name}") for name in ("schema", "validation.json")
    )
    for text in texts.values():
        valid = validation.JsonStrictValidator(schema.SchemaVersion.V1_6)
        assert valid.validate_str(text) is None
    python, page = scopes(texts["python.cdx.json"]), scopes(texts["page.cdx.json"])

    assert python.keys() == {f"pypi/{name}@{version}" for name, version in SBOM["pins"]().items()}
    said = {name.split("/")[1].split("@")[0]: scope for name, scope in python.items()}
    for scope, names in {"required": ("wrapt", "tomli"), "optional": ("uvicorn", "openai"),
                         "excluded": ("pytest", "zensical")}.items():  # fmt: skip
        assert [said[name] for name in names] == [scope, scope]
    lock = json.loads(SBOM["LOCK"].read_text(encoding="utf-8"))["packages"]
    assert len(page) == len({(path.rpartition("node_modules/")[2], each.get("version"))
                             for path, each in lock.items() if path})  # fmt: skip
    bundled = json.loads((REPOSITORY / "console/page/package.json").read_text())["dependencies"]
    for name, version in bundled.items():
        purl = f"npm/{name.replace('@', '%40')}@{version}"
        assert page[purl] == "required", purl


def test_the_links_of_the_project_come_from_where_it_is_built(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """None is invented; a release's name its own repository."""

    def links() -> dict[str, str]:
        return dict(ProjectMetadata(str(REPOSITORY), PluginManager()).core.urls)

    for name in ("TURNSPAN_REPOSITORY", "TURNSPAN_SITE"):
        monkeypatch.delenv(name, raising=False)
    assert links() == {}
    monkeypatch.setenv("TURNSPAN_REPOSITORY", "https://code.example/ada/turnspan/")
    assert links() == {
        "Homepage": "https://code.example/ada/turnspan",
        "Repository": "https://code.example/ada/turnspan",
        "Issues": "https://code.example/ada/turnspan/issues",
        "Changelog": "https://code.example/ada/turnspan/blob/v0.1.0/CHANGELOG.md",
    }
    monkeypatch.setenv("TURNSPAN_SITE", "https://docs.example")
    assert links()["Homepage"] == links()["Documentation"] == "https://docs.example"
