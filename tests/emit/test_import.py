"""What `import turnspan` costs an application before it records anything."""

from __future__ import annotations

import subprocess
import sys

LOADED = "import sys; import {module}; print(*sorted(sys.modules))"
HEAVY = {
    "anthropic",
    "chdb",
    "clickhouse_connect",
    "genai_prices",
    "httpx",
    "numpy",
    "openai",
    "opentelemetry.exporter",
    "opentelemetry.sdk",
    "orjson",
    "pandas",
    "pyarrow",
    "pydantic",
    "turnspan_clickhouse",
    "turnspan_console",
    "turnspan_records",
    "wrapt",
}


def loaded_by(module: str) -> set[str]:
    """The modules in a fresh interpreter after importing one."""
    code = LOADED.format(module=module)
    command = [sys.executable, "-c", code]
    return set(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def test_importing_it_loads_no_engine_no_sdk_and_no_exporter() -> None:
    """Everything heavy waits until it is needed: most processes never ship or read a record."""
    loaded = loaded_by("turnspan")

    assert "turnspan.decorators" in loaded
    assert HEAVY & loaded == set()


def test_the_plugin_of_llm_loads_nothing_of_ours() -> None:
    """``llm`` imports it with every command."""
    loaded = loaded_by("turnspan_llm.plugin")
    ours = {name for name in loaded if name.startswith("turnspan")}
    assert ours == {"turnspan_llm", "turnspan_llm.plugin"}


def test_what_few_applications_use_is_loaded_when_it_is_used() -> None:
    """Every public name is there all the same, and a name that is none is an error as ever."""
    loaded = loaded_by("turnspan")
    assert not {"importlib.metadata", "zipfile", "turnspan.loop"} & loaded
    program = (
        "import turnspan; assert all(hasattr(turnspan, name) for name in turnspan.__all__);"
        "assert not hasattr(turnspan, 'nothing'); from turnspan import *; evolve; consortium"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_few_readers_use_is_loaded_when_it_is_used() -> None:
    """As every command of ``turnspan`` begins with. No public name is a module, also where there is
    one of its name."""
    loaded = loaded_by("turnspan_records")
    late = {"again", "keeping", "loop", "quality", "screens", "training"}
    assert not {f"turnspan_records.{room}" for room in late} & loaded
    program = (
        "import turnspan_records as r, types;"
        "assert not [n for n in r.__all__ if isinstance(getattr(r, n), types.ModuleType)];"
        "assert not hasattr(r, 'nothing'); from turnspan_records import *; export; replay"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
