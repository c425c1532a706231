"""Fail unless the wheels on the command line are exactly our packages, every file of them.

Pure ones are compared with the repository, byte by byte. A compiled one holds the very same files
and, for each module that is compiled, its extension module: compared byte by byte with a pure one
beside it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = {
    "turnspan": "instrument",
    "turnspan_llm": "llm",
    "turnspan_clickhouse": "exporter",
    "turnspan_records": "records",
    "turnspan_console": "console",
    "turnspan_demo": "examples",
}
ROOT = Path(__file__).parent.parent
EXTENSION = re.compile(r"(?:\.cpython-3\d+-[\w-]+|\.cp3\d+-\w+|\.abi3)?\.(?:so|pyd)")
OF_BUILD = re.compile(r"[^/]+\.dist-info/(?:RECORD|WHEEL)")
"""What two builds of one wheel may differ in."""
SHARED = "turnspan__mypyc"
"""The extension module that holds the code of all the others."""

Files = dict[str, bytes]


def expected_files() -> set[str]:
    """The packages' tracked files, as paths inside the wheel."""
    roots = [f"{root}/{package}" for package, root in PACKAGES.items()]
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--", *roots],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    ).stdout
    there = (name for name in listing.split("\0") if name and (ROOT / name).exists())
    return {name.split("/", 1)[1] for name in there}


def compiled_modules() -> set[str]:
    """The compiled modules' paths without suffix, as hatch_build.py lists them, and the shared."""
    text = (ROOT / "hatch_build.py").read_text(encoding="utf-8")
    listed = re.search(r"^COMPILED = \((.*?)^\)", text, re.MULTILINE | re.DOTALL)
    assert listed is not None
    return {SHARED, *re.findall(r'"([\w/]+)\.py"', listed[1])}


def read(wheel: Path) -> Files:
    """The wheel's files, without what every build writes anew."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        return {name: archive.read(name) for name in names if not OF_BUILD.fullmatch(name)}


def packed(files: Files) -> set[str]:
    """The files but for the wheel's own about it."""
    return {name for name in files if not name.split("/")[0].endswith(".dist-info")}


def problems_of_pure(files: Files) -> list[str]:
    """How a pure wheel differs from the repository."""
    tops = sorted({name.split("/")[0] for name in packed(files)})
    if tops != sorted(PACKAGES):
        return [f"the top level is {tops}, not {sorted(PACKAGES)}"]
    wanted = expected_files()
    found = [f"not in the wheel: {name}" for name in sorted(wanted - packed(files))]
    found += [f"in the wheel but not in git: {one}" for one in sorted(packed(files) - wanted)]
    both = sorted(wanted & packed(files))
    return found + [f"not as in git: {name}" for name in both if files[name] != source_of(name)]


def source_of(name: str) -> bytes:
    """The file of the repository that a file of the wheel is made of."""
    return (ROOT / PACKAGES[name.split("/")[0]] / name).read_bytes()


def problems_of_compiled(files: Files, pure: Files) -> list[str]:
    """How a compiled wheel differs from the pure one, but for the extension modules."""
    found = [f"not as in the pure wheel: {n}" for n in sorted(pure) if files.get(n) != pure[n]]
    extensions: set[str] = set()
    for name in sorted(set(files) - set(pure)):
        suffix = EXTENSION.search(name)
        if suffix is None or suffix.end() != len(name):
            found.append(f"neither in the pure wheel nor compiled: {name}")
        else:
            extensions.add(name[: suffix.start()])
    wanted = compiled_modules()
    found += [f"not compiled: {name}" for name in sorted(wanted - extensions)]
    return found + [f"compiled unasked: {name}" for name in sorted(extensions - wanted)]


def main(wheels: list[str]) -> int:
    """Check the wheels; returns the exit code."""
    contents = {Path(wheel): read(Path(wheel)) for wheel in wheels}
    pure = next((f for path, f in contents.items() if path.stem.endswith("-none-any")), None)
    code = 0
    for path, files in contents.items():
        if path.stem.endswith("-none-any"):
            problems = problems_of_pure(files)
        elif pure is None:
            problems = ["there is no pure wheel beside it to compare it with"]
        else:
            problems = problems_of_compiled(files, pure)
        for problem in problems:
            print(f"{path.name}: {problem}", file=sys.stderr)
        if problems:
            code = 1
        else:
            size = f"{path.stat().st_size / 2**20:.1f} MB"
            print(f"{path.name}: {len(packed(files))} files, {size}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
