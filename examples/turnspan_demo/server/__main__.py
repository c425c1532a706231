"""``python -m turnspan_demo.server [FILE...] [--port N]``: the model server on its own."""

from __future__ import annotations

import argparse
import contextlib
from pathlib import Path

from turnspan_demo import trajectories, written
from turnspan_demo.model import RunError
from turnspan_demo.server import ModelServer


def main() -> None:
    """Serve runs until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m turnspan_demo.server", description=__doc__)
    parser.add_argument("files", nargs="*", type=Path, help="trajectory files or runs as JSON")
    parser.add_argument("--port", type=int, default=8484, help="0 takes a free one (default 8484)")
    chosen = parser.parse_args()
    try:
        runs = [run for file in chosen.files for run in trajectories.load(file)]
        server = ModelServer(runs or written.shipped(), chosen.port)
    except RunError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"port {chosen.port} cannot be used ({error}): choose another with --port")
    print(f"Replaying {len(server.library.runs)} recorded runs. For the SDKs:\n")
    print(f"export OPENAI_BASE_URL={server.openai_url} OPENAI_API_KEY=replay")
    print(f"export ANTHROPIC_BASE_URL={server.anthropic_url} ANTHROPIC_API_KEY=replay", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()


if __name__ == "__main__":
    main()
