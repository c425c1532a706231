"""What is built where: compiled where that works, else pure, and the two alike."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from support.shared import REPOSITORY

CHECK = REPOSITORY / ".ci" / "check_wheel.py"
HOOK = "import hatch_build; print(repr(hatch_build.lacks_to_compile()))"


def hook(code: str = HOOK, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run code beside the build backend with these variables."""
    known = {name: value for name, value in os.environ.items() if name != "TURNSPAN_COMPILE"}
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        env=known | environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_variable_decides() -> None:
    """0 is never, 1 is a wheel that is compiled or none, anything else is a mistake."""
    assert "TURNSPAN_COMPILE is 0" in hook(TURNSPAN_COMPILE="0").stdout
    missing = hook(TURNSPAN_COMPILE="1", CC="no-such-compiler")
    assert missing.returncode == 1
    told = "TURNSPAN_COMPILE is 1, but there is no C compiler (no-such-compiler"
    assert told in missing.stderr.splitlines()[-1]
    assert "write 1 or 0, or leave it out" in hook(TURNSPAN_COMPILE="yes").stderr


def test_the_compiler_is_asked_for_only_where_it_is_used() -> None:
    """An editable installation and a pure wheel need hatchling and no more."""
    code = "import hatch_build as h; print(h.get_requires_for_build_{}())"
    without = {"CC": "no-such-compiler"}
    assert hook(code.format("wheel"), **without).stdout == "[]\n"
    assert "mypy" not in hook(code.format("editable"), CC=sys.executable).stdout
    headers = Path(sysconfig.get_path("include"), "Python.h").is_file()
    asked = hook(code.format("wheel"), CC=sys.executable).stdout  # some program that is there
    assert ("mypy[mypyc]==" in asked) is headers


@pytest.fixture(scope="session")
def pure(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A wheel built where there is no compiler, and what the build said."""
    folder = tmp_path_factory.mktemp("pure")
    code = (
        f"import hatch_build, sys;print(hatch_build.build_wheel({str(folder)!r}), file=sys.stderr)"
    )
    built = hook(code, CC="no-such-compiler")
    assert built.returncode == 0, built.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel, built.stdout + built.stderr


def test_without_a_compiler_the_wheel_is_pure_and_the_reason_said(pure: tuple[Path, str]) -> None:
    """One wheel for every platform."""
    wheel, said = pure
    assert wheel.name.endswith("-py3-none-any.whl")
    assert "a wheel of pure Python, since there is no C compiler (no-such-compiler" in said


def check(*wheels: Path) -> subprocess.CompletedProcess[str]:
    """Run the check that CI and the release run."""
    return subprocess.run(
        [sys.executable, str(CHECK), *map(str, wheels)],
        capture_output=True,
        text=True,
        check=False,
    )


def as_compiled(pure: Path, folder: Path, *, leave: str = "", change: str = "") -> Path:
    """The pure wheel with an extension module for each module that is compiled."""
    modules: set[str] = runpy.run_path(str(CHECK))["compiled_modules"]()
    made = folder / "turnspan-0.1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
    with zipfile.ZipFile(pure) as source, zipfile.ZipFile(made, "w") as target:
        for name in source.namelist():
            target.writestr(name, source.read(name) + (b"#" if name == change else b""))
        for module in modules - {leave}:
            target.writestr(f"{module}.cpython-311-x86_64-linux-gnu.so", b"")
    return made


def test_a_compiled_wheel_is_the_pure_one_and_its_extensions(
    pure: tuple[Path, str], tmp_path: Path
) -> None:
    """Nothing more, nothing less, nothing else."""
    wheel, _ = pure
    fine = check(wheel, as_compiled(wheel, tmp_path))
    assert (fine.returncode, fine.stderr) == (0, ""), fine.stderr

    changed = check(
        wheel, as_compiled(wheel, tmp_path, change="turnspan/tracing/tool_recording.py")
    )
    assert "not as in the pure wheel: turnspan/tracing/tool_recording.py" in changed.stderr
    lacking = check(wheel, as_compiled(wheel, tmp_path, leave="turnspan/tracing/tool_recording"))
    assert "not compiled: turnspan/tracing/tool_recording" in lacking.stderr
    made = as_compiled(wheel, tmp_path)
    with zipfile.ZipFile(made, "a") as archive:
        archive.writestr("turnspan/config.cpython-311-x86_64-linux-gnu.so", b"")
        archive.writestr("turnspan/notes.txt", b"")
    more = check(wheel, made)
    assert "compiled unasked: turnspan/config" in more.stderr
    assert "neither in the pure wheel nor compiled: turnspan/notes.txt" in more.stderr
    assert (changed.returncode, lacking.returncode, more.returncode) == (1, 1, 1)
