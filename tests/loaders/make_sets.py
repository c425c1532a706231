"""Writes a set of every kind and format, for the loaders to load.

python -m loaders.make_sets FOLDER
"""

from __future__ import annotations

import base64
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from support.improved import improved_records
from support.landing import insert
from support.rows import message, said
from support.training import Recorded, random_records
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.training import TrainingSet, export, rule
from turnspan_records.training.wanted import FORMATS, KINDS

PNG = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489"
        "0000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
    )
).decode()


def records() -> Recorded:
    """Answers, tool calls in parallel, an image; all of them judged."""
    made = random_records(1, answers=80)
    for number in range(30):
        id_ = f"w{number:02}"
        made.with_a_tool(id_, f"Size {number % 6}?", f"Answer {number}.", tools=made.tools())
        made.judge(id_, "score", score=float(number))
        made.judge(id_, "outcome", outcome="used" if number % 3 else "rejected")
    picture: dict[str, Any] = {
        "type": "blob", "modality": "image", "mime_type": "image/png", "content": PNG
    }  # fmt: skip
    asking = message("user", said("What is this?"), picture, scope="s-image")
    reply = message("assistant", said("A dot."), scope="s-image")
    made.say(asking, reply)
    made.one_call("image", "s-image", [asking.hash], [reply.hash])
    made.judge("image", "outcome", outcome="used")
    made.judge("image", "score", score=5.0)
    return made


def main() -> None:
    """Write them all anew."""
    folder = Path(sys.argv[1])
    # Where exported sets are noted: these are nobody's.
    os.environ["XDG_DATA_HOME"] = str(folder.absolute() / ".data")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with open_store(Dsn(scheme="chdb", path=folder.absolute() / ".store")) as store:
        migrate(store)
        insert(store, *records().rows, *improved_records().rows)
        for kind in KINDS:
            for form in FORMATS:
                wanted = TrainingSet(kind, form, good=(rule("score>=1"), rule("outcome=used")))
                made = export(store, folder / kind / form, wanted)
                assert made.lines, (kind, form, made.manifest)


if __name__ == "__main__":
    main()
