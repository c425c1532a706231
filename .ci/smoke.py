"""Use an installed wheel as a newcomer does, with nothing but its own dependencies.

    python smoke.py [compiled|pure]

Records a turn with a tool and a model call, checks what is on disk, and where the engine and the
command are installed replays the turn from the store.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

AGENT = """
import turnspan

turnspan.configure()

@turnspan.tool
def find_order(order_id: str) -> dict:
    return {"order": order_id, "status": "shipped"}

@turnspan.agent
def support(question: str) -> str:
    asked = [{"role": "user", "content": question}]
    with turnspan.inference(provider="openai", model="gpt-4o", messages=asked) as call:
        call.response(text="Let me see.", input_tokens=9, output_tokens=4)
    find_order("7")
    return "It has shipped."

with turnspan.session("smoke-1"):
    print(support("Where is my order 7?"))
landed = turnspan.flush(local=True)
assert landed.ok and not landed.dropped, landed
"""


def build() -> str:
    """Which build is installed; the modules must be those of an installation, not of sources."""
    from turnspan.content import snapshot

    file = Path(snapshot.__file__ or "")
    installed = {Path(sysconfig.get_path(name)).resolve() for name in ("purelib", "platlib")}
    assert installed & set(file.resolve().parents), f"{file} is not installed"
    return "pure" if file.suffix == ".py" else "compiled"


def main(wanted: str) -> None:
    """Run the program, then read what it left."""
    found = build()
    assert wanted in ("", found), f"the build is {found}, not {wanted}"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        script = Path(folder) / "support_desk.py"
        script.write_text(AGENT, encoding="utf-8")
        environ = {name: value for name, value in os.environ.items() if "TURNSPAN" not in name}
        environ["TURNSPAN_STORE"] = (Path(folder) / "store").as_uri().replace("file:", "chdb:", 1)
        run = [sys.executable, "-W", "error", str(script)]
        ran = subprocess.run(run, env=environ, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
        assert ran.stdout == "It has shipped.\n", ran.stdout
        spool = Path(folder) / "store" / "spool"
        tables = sorted({path.name.split(".")[-2] for path in spool.glob("*.native")})
        assert {"llm_call", "tool_call", "turn_summary"} <= set(tables), tables
        said = f"{found}, Python {sys.version.split()[0]}, {sys.platform}: spooled {tables}"
        if all(importlib.util.find_spec(name) for name in ("chdb", "click", "rich")):
            replay = [sys.executable, "-m", "turnspan_console", "replay", "smoke-1"]
            shown = subprocess.run(replay, env=environ, capture_output=True, check=False)
            text = shown.stdout.decode()
            assert shown.returncode == 0, shown.stderr.decode()
            for part in (
                "Where is my order 7?",
                "Let me see.",
                "find_order",
                "shipped",
                "completed",
            ):
                assert part in text, text
            said += ", replayed"
        print(said)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
