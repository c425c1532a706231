"""Whatever surrounds an application, it runs as it would without us, and a line says what is wrong.

Every variable that OpenTelemetry or Turnspan reads, with a value that is none; no home, no passwd
entry, folders that cannot be written; by ``configure``, by the configurator of
``opentelemetry-instrument``, and by the exporter's name alone.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import opentelemetry.environment_variables
import opentelemetry.sdk.environment_variables
import pytest

import turnspan
from support.clickhouse_server import free_ports
from support.representatives import few
from support.settings import WITHOUT_SDKS
from turnspan.config import OPTIONS
from turnspan_clickhouse.spool.spool import Spool
from turnspan_clickhouse.store import dsn as dsns

AGENT = Path(__file__).with_name("environment_agent.py")
TESTS = Path(__file__).parents[1]
WAYS = ("configure", "auto", "sdk")
_RELEASE = pytest.mark.release
NONE = "garbage"


def _variables() -> list[str]:
    modules = (opentelemetry.environment_variables, opentelemetry.sdk.environment_variables)
    found = [value for module in modules for value in vars(module).values()]
    names = sorted({n for n in found if isinstance(n, str) and n.startswith("OTEL_")})
    ours = ("TURNSPAN_STORE", "TURNSPAN_SPOOL", "TURNSPAN_STORE_PASSWORD_FILE")
    return [*names, *sorted({option.variable for option in OPTIONS}), *ours]


VARIABLES = _variables()
FATAL = ("OTEL_PROPAGATORS", "OTEL_PYTHON_")
"""By these OpenTelemetry itself cannot be imported; with a limit none of its classes is made."""
ONE_BY_ONE = [
    name for name in VARIABLES if name.startswith(("TURNSPAN_", *FATAL)) or name.endswith("_LIMIT")
]
"""The others are tried all at once."""
OFTEN = (
    *("OTEL_PROPAGATORS", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"),
    *("TURNSPAN_FLUSH_INTERVAL", "TURNSPAN_SPOOL", "TURNSPAN_STORE"),
)
"""These `make test` tries."""


def ends_well(way: str, folder: Path, **environ: str) -> str:
    """Run the application; what it logged. It prints its result, whatever surrounds it."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    clean |= {"PYTHONPATH": str(TESTS), "HOME": str(folder / "home"), "TMPDIR": str(folder)}
    command = [sys.executable, str(AGENT), way]
    ended = subprocess.run(
        command, env=clean | environ, capture_output=True, text=True, timeout=60, cwd=folder
    )
    assert (ended.returncode, ended.stdout) == (0, "sum 3\nend\n"), ended.stderr
    return ended.stderr


def said_once(log: str) -> str:
    """The one line of ours; what is lost by it is counted in a second one at the end."""
    ours = [line for line in log.splitlines() if line.startswith("WARNING turnspan")]
    lines = [line for line in ours if "has not landed everything" not in line]
    assert len(lines) == 1, log
    return lines[0]


@pytest.mark.parametrize("variable", few(ONE_BY_ONE, OFTEN))
def test_a_variable_that_is_not_understood(variable: str, tmp_path: Path) -> None:
    """One at a time, by ``configure``; ours are named in the line about them."""
    log = ends_well("configure", tmp_path, **{variable: NONE})

    assert "Traceback" not in log or variable.startswith("OTEL_"), log
    if variable.startswith("TURNSPAN_") and NONE in log:
        assert said_once(log)


@pytest.mark.parametrize("way", ["configure", "auto"])
def test_no_variable_is_understood(way: str, tmp_path: Path) -> None:
    """All at once, but for those by which OpenTelemetry itself cannot be imported or made."""
    names = [n for n in VARIABLES if not n.startswith(FATAL) and not n.endswith("_LIMIT")]
    ends_well(way, tmp_path, **dict.fromkeys(names, NONE))


@pytest.mark.parametrize("way", ["configure", "auto"])
def test_exporters_that_cannot_be_made(way: str, tmp_path: Path) -> None:
    """Records are landed all the same."""
    environ = {name: NONE for name in VARIABLES if name.startswith("OTEL_EXPORTER_")}
    environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = f"http://localhost:{free_ports(1)[0]}"
    environ["OTEL_TRACES_EXPORTER"] = "turnspan,otlp,nonsense"
    ends_well(way, tmp_path, TURNSPAN_STORE=f"chdb://{tmp_path / 'store'}", **environ)

    assert list((tmp_path / "store" / "spool").glob("*.tool_call.native"))


@pytest.mark.parametrize("way", few(WAYS, ["configure", "sdk"]))
def test_a_store_that_is_none(way: str, tmp_path: Path) -> None:
    """Records go to a temporary folder; ``doctor`` says where, and why."""
    line = said_once(ends_well(way, tmp_path, TURNSPAN_STORE="postgres://x"))

    (folder,) = tmp_path.glob(f"turnspan-{os.getuid()}/store/spool")
    assert list(folder.glob("*.tool_call.native"))
    assert str(folder) in line
    assert "TURNSPAN_STORE" in line or "the store" in line.lower()
    if way != WAYS[0]:  # the doctor sees no difference, and takes seconds
        return
    doctor = subprocess.run(
        [sys.executable, "-c", "from turnspan_console import main; main()", "doctor"],
        env={
            **os.environ,
            **WITHOUT_SDKS,
            "TURNSPAN_STORE": "postgres://x",
            "TMPDIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    told = "".join(doctor.stdout.split())
    assert doctor.returncode == 1
    assert "hasnoknownscheme" in told
    assert str(folder) in told


HOMELESS = """
import os, pwd, runpy, sys
def nobody(uid):
    raise KeyError(f"getpwuid(): uid not found: {uid}")
pwd.getpwuid = nobody
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.mark.parametrize("way", few(WAYS, ["configure", "sdk"]))
def test_no_home_and_no_passwd_entry(way: str, tmp_path: Path) -> None:
    """As in a container with any user id: nothing is written to where the program stands."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "TURNSPAN_"))}
    for name in ("HOME", "XDG_DATA_HOME", "USER", "LOGNAME"):
        clean.pop(name, None)
    clean |= {"PYTHONPATH": str(TESTS), "TMPDIR": str(tmp_path)}
    here = tmp_path / "here"
    here.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", HOMELESS, str(AGENT), way],
        env=clean,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=here,
    )

    assert (ended.returncode, ended.stdout) == (0, "sum 3\nend\n"), ended.stderr
    assert "set HOME" in said_once(ended.stderr)
    assert list(here.iterdir()) == []
    (spool,) = tmp_path.glob(f"turnspan-{os.getuid()}/store/spool")
    assert Spool(spool).usage().by_table["tool_call"][0] == 1
    assert (tmp_path / f"turnspan-{os.getuid()}").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "environ",
    [
        pytest.param({"TURNSPAN_SPOOL": "{file}"}, id="the spool is a file"),
        pytest.param(
            {"TURNSPAN_SPOOL": "{file}/below"}, id="the spool is below a file", marks=_RELEASE
        ),
        pytest.param(
            {"TURNSPAN_SPOOL": "/proc/nowhere"}, id="no folder can be made", marks=_RELEASE
        ),
        pytest.param({"TURNSPAN_SPOOL": "~nobody-at-all/x"}, id="nobody's home"),
        pytest.param({"TURNSPAN_STORE": "chdb:///dev/null/x"}, id="the store is a device"),
        pytest.param({"HOME": "/proc/none"}, id="a home that is none", marks=_RELEASE),
        pytest.param({"XDG_DATA_HOME": "/proc/none"}, id="a data folder that is none"),
        pytest.param({"TURNSPAN_STORE": "http://[::"}, id="a bracket", marks=_RELEASE),
        pytest.param(
            {"TURNSPAN_STORE": "http://127.0.0.1:1/x", "TURNSPAN_STORE_PASSWORD_FILE": "/none"},
            id="no password file",
            marks=_RELEASE,
        ),
        pytest.param(
            {"TURNSPAN_STORE": "http://127.0.0.1:1/x", "TURNSPAN_STORE_PASSWORD_FILE": "{bytes}"},
            id="a password file that is no text",
        ),
    ],
)
@pytest.mark.parametrize("way", few(["configure", "sdk"], ["configure"]))
def test_folders_and_files(way: str, environ: dict[str, str], tmp_path: Path) -> None:
    """The application runs, and a line says what cannot be used."""
    (tmp_path / "file").write_text("")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    names = {"file": tmp_path / "file", "bytes": tmp_path / "bytes"}
    log = ends_well(way, tmp_path, **{k: v.format(**names) for k, v in environ.items()})

    assert "WARNING turnspan" in log
    assert "Traceback" not in log


@pytest.mark.parametrize(
    "arguments",
    [
        {"store": "nonsense"},
        {"store": "http://"},
        {"exporters": ["nonsense"]},
        {"exporters": "turnspan"},
        {"tracer_provider": object()},
        {"queue_size": -1},
    ],
    ids=lambda arguments: next(iter(arguments)),
)
def test_what_code_gives_may_raise(arguments: dict[str, object]) -> None:
    """``ValueError``, and nothing is set up."""
    with pytest.raises(ValueError):
        turnspan.configure(**arguments)  # type: ignore[arg-type]  # pyright: ignore
    assert not turnspan.flush().accounts.spooled
    turnspan.shutdown()


def test_the_temporary_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that another user has made, or a link, may be a trap."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    usual = dsns.temporary_folder()
    usual.symlink_to("/")
    assert dsns.temporary_folder() != usual
