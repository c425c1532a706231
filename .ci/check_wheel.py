"""Fail unless the wheel named on the command line is exactly our packages, every file of them."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGES = {
    "turnspan": "instrument",
    "turnspan_clickhouse": "exporter",
    "turnspan_records": "records",
    "turnspan_console": "console",
    "turnspan_demo": "examples",
}


def expected_files() -> set[str]:
    """The packages' tracked files, as paths inside the wheel."""
    roots = [f"{root}/{package}" for package, root in PACKAGES.items()]
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--", *roots],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return {name.split("/", 1)[1] for name in listing.split("\0") if name and Path(name).exists()}


def main(wheel: str) -> int:
    """Compare ``wheel`` with the repository; returns the exit code."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
    packed = {name for name in names if not name.split("/")[0].endswith(".dist-info")}
    tops = sorted({name.split("/")[0] for name in packed})
    if tops != sorted(PACKAGES):
        print(f"The wheel's top level is {tops}, not {sorted(PACKAGES)}.", file=sys.stderr)
        return 1
    wanted = expected_files()
    problems = [f"not in the wheel: {name}" for name in sorted(wanted - packed)]
    problems += [f"in the wheel but not in git: {name}" for name in sorted(packed - wanted)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{Path(wheel).name}: {len(packed)} files in {', '.join(tops)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
