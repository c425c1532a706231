"""Write what a release was tested and built with, as CycloneDX 1.6: build/sbom/*.cdx.json.

`python.cdx.json` has the versions of .ci/constraints.txt: required by `turnspan` itself, optional
where an extra of its users needs them, excluded where only development does. `page.cdx.json` has
those of the page's package-lock.json: required is what is bundled into the page. The same sources
give the same bytes: the time is that of the commit.
"""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Iterable, Iterator
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, metadata, requires
from pathlib import Path
from typing import Any, Final
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from turnspan import __version__

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = ROOT / "build" / "sbom"
CONSTRAINTS: Final = ROOT / ".ci" / "constraints.txt"
LOCK: Final = ROOT / "console" / "page" / "package-lock.json"
NOT_FOR_USERS: Final = {"dev", "docs"}
"""Extras of the package that only development has."""
_PYTHONS: Final = ("3.10", "3.14")
"""The oldest and newest that a wheel is for: what either needs is needed."""
_PIN: Final = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)
_LICENSES: Final = LicenseFactory()


def pins() -> dict[str, str]:
    """The versions by their names, as packages are named in the index."""
    found = _PIN.findall(CONSTRAINTS.read_text(encoding="utf-8"))
    return {canonicalize_name(name): version for name, version in found}


def _needs(name: str, extras: Iterable[str]) -> Iterator[Requirement]:
    """What an installed package asks for here, with these of its extras."""
    try:
        lines = requires(name) or []
    except PackageNotFoundError:  # another platform's, which is pinned and not installed
        return
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or any(
            marker.evaluate({"extra": extra, "python_version": version})
            for extra in ("", *extras)
            for version in _PYTHONS
        ):
            yield requirement


def reached(extras: Iterable[str]) -> set[str]:
    """The packages that `turnspan` needs with these extras."""
    found: set[str] = set()
    waiting = [("turnspan", frozenset(extras))]
    seen = set(waiting)
    while waiting:
        name, asked = waiting.pop()
        found.add(name)
        for requirement in _needs(name, asked):
            inner = (canonicalize_name(requirement.name), frozenset(requirement.extras))
            if inner not in seen:
                seen.add(inner)
                waiting.append(inner)
    return found - {"turnspan"}


def of_python() -> Bom:
    """The Python packages."""
    extras = set(metadata("turnspan").get_all("Provides-Extra") or []) - NOT_FOR_USERS
    needed, wanted = reached(()), reached(extras)
    bom = _bom("turnspan", "pypi")
    for name, version in pins().items():
        scope = ComponentScope.EXCLUDED
        if name in wanted:
            scope = ComponentScope.REQUIRED if name in needed else ComponentScope.OPTIONAL
        bom.components.add(_component(name, version, "pypi", scope, licence=_licence(name)))
    return _finished(bom)


def _licence(name: str) -> str:
    try:
        return metadata(name).get("License-Expression") or ""
    except PackageNotFoundError:
        return ""


def of_page() -> Bom:
    """The page's npm packages."""
    packages: dict[str, dict[str, Any]] = json.loads(LOCK.read_text(encoding="utf-8"))["packages"]
    bom = _bom("turnspan-page", "npm")
    for path, said in packages.items():
        if not path:
            continue
        name = path.rpartition("node_modules/")[2]
        scope = ComponentScope.EXCLUDED if said.get("dev") else ComponentScope.REQUIRED
        hashes = list(_hashes(str(said.get("integrity", ""))))
        licence = str(said.get("license", ""))
        version = str(said["version"])
        bom.components.add(_component(name, version, "npm", scope, licence=licence, hashes=hashes))
    return _finished(bom)


def _hashes(integrity: str) -> Iterator[HashType]:
    """As npm writes them: ``sha512-`` and Base64, with spaces between; none of what is bundled."""
    for said in integrity.split():
        kind, _, digest = said.partition("-")
        algorithm = HashAlgorithm(kind.upper().replace("SHA", "SHA-"))
        yield HashType(alg=algorithm, content=base64.b64decode(digest).hex())


def _bom(name: str, kind: str) -> Bom:
    bom = Bom()
    bom.metadata.component = Component(
        name=name,
        version=__version__,
        type=ComponentType.APPLICATION,
        bom_ref=f"{kind}:{name}",
        licenses=[_LICENSES.make_from_string("Apache-2.0")],
    )
    when = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    bom.metadata.timestamp = datetime.fromtimestamp(int(when), timezone.utc)
    return bom


def _component(
    name: str,
    version: str,
    kind: str,
    scope: ComponentScope,
    *,
    licence: str = "",
    hashes: Iterable[HashType] = (),
) -> Component:
    group, _, plain = name.rpartition("/")
    purl = PackageURL(kind, group or None, plain, version)
    return Component(
        name=plain,
        group=group or None,
        version=version,
        type=ComponentType.LIBRARY,
        scope=scope,
        purl=purl,
        bom_ref=purl.to_string(),
        hashes=hashes,
        licenses=[_LICENSES.make_from_string(licence)] if licence else [],
    )


def _finished(bom: Bom) -> Bom:
    """With a number that is its content's, and what the component itself needs."""
    assert bom.metadata.component is not None
    direct = [each for each in bom.components if each.scope is not ComponentScope.EXCLUDED]
    bom.register_dependency(bom.metadata.component, direct)
    said = "\n".join(sorted(f"{each.bom_ref} {each.scope}" for each in bom.components))
    bom.serial_number = uuid5(NAMESPACE_URL, said)
    return bom


def texts() -> dict[str, str]:
    """Each file's text by its name."""
    made = {"python.cdx.json": of_python(), "page.cdx.json": of_page()}
    return {name: JsonV1Dot6(bom).output_as_string(indent=2) + "\n" for name, bom in made.items()}


if __name__ == "__main__":
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
        print(f"build/sbom/{name}: {len(json.loads(text)['components'])} components")
