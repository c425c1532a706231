"""Writes a set of every kind and format, for the loaders to load.

python -m loaders.make_sets FOLDER
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from support.coding_sessions import session
from support.improved import improved_records
from support.landing import insert
from support.rows import message, said
from support.training import Recorded, random_records
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_clickhouse.store.migrations import migrate
from turnspan_clickhouse.store.opening import open_store
from turnspan_records.coding.trajectories.trajectory_export import export_trajectories
from turnspan_records.training import Filters, TrainingSet, export, rule
from turnspan_records.training.export_request import FORMATS, KINDS

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
    # Texts that are JSON as well, beside contents that are blocks.
    for number, text in enumerate(
        ("42", " -1.5e3", "true", "null", '"x"', "[1]\n", "NaN", "4 you")
    ):
        made.turn(f"j{number}", f"Which {number}?", text)
        made.judge(f"j{number}", "outcome", outcome="used")
        made.judge(f"j{number}", "score", score=5.0)
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


def large() -> Recorded:
    """More than the ten megabytes of which `datasets` makes up its mind in words alone, and some
    with tools and images; two answers to each question, the first one better."""
    made = Recorded()
    picture: dict[str, Any] = {
        "type": "blob", "modality": "image", "mime_type": "image/png", "content": PNG
    }  # fmt: skip
    for number in range(2_700):
        for side in ("a", "b"):
            id_ = f"{'late' if number >= 2_600 else 'text'}-{number:04}-{side}"
            kind = number % 2 if number >= 2_600 else -1
            if kind == 0:
                made.with_a_tool(id_, f"Size {number}?", f"Answer {side}.", tools=made.tools())
            else:
                words = said(f"{number} " + "word " * 900)
                given = (words,) if kind < 0 else (words, picture)
                asking = message("user", *given, scope=f"s-{id_}")
                thought = {"type": "reasoning", "content": "I think."}
                reply = message("assistant", thought, said(f"Answer {side}."), scope=f"s-{id_}")
                made.say(asking, reply)
                made.one_call(id_, f"s-{id_}", [asking.hash], [reply.hash])
            made.judge(id_, "outcome", outcome="used" if side == "a" else "rejected")
            made.judge(id_, "score", score=9.0 if side == "a" else 2.0)
    return made


def write_late(folder: Path) -> None:
    """Large sets with tools and images in the last lines only: lines are in the order of their
    prompts' hashes (an image is told otherwise in each format): those in the way are left out."""
    whole = {"train": 1.0}
    with open_store(Dsn(scheme="chdb", path=folder.absolute() / ".late")) as store:
        migrate(store)
        insert(store, *large().rows)
        for form in FORMATS:
            ordered = TrainingSet("kto", "trl" if form == "parquet" else form, splits=whole)
            made = export(store, folder / f".{form}", ordered)
            sources = made.folder / f"train.{'sources.' if form == 'openai' else ''}jsonl"
            order = [json.loads(line) for line in sources.read_bytes().splitlines()]
            ids = [str(one["id"] if form == "openai" else one["source"]["id"]) for one in order]
            wanted = Recorded()
            for at, id_ in enumerate(ids):
                if id_.startswith("late") == (at >= len(ids) * 95 // 100):
                    wanted.judge(id_, f"evaluation:{form}", outcome="wanted")
            insert(store, *wanted.rows)
            late = Filters(only=(rule(f"evaluation:{form}=wanted"),))
            for kind in KINDS:
                one = TrainingSet(kind, form, filters=late, splits=whole)
                export(store, folder / "late" / kind / form, one)


def main() -> None:
    """Write them all anew."""
    folder = Path(sys.argv[1])
    # Where exported sets are noted: these are nobody's.
    os.environ["XDG_DATA_HOME"] = str(folder.absolute() / ".data")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with open_store(Dsn(scheme="chdb", path=folder.absolute() / ".store")) as store:
        migrate(store)
        insert(store, *records().rows, *improved_records().rows, *session())
        export_trajectories(store, folder / "inspect", "inspect")
        for kind in KINDS:
            for form in FORMATS:
                wanted = TrainingSet(kind, form, good=(rule("score>=1"), rule("outcome=used")))
                made = export(store, folder / kind / form, wanted)
                assert made.lines, (kind, form, made.manifest)
    write_late(folder)


if __name__ == "__main__":
    main()
