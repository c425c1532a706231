"""``turnspan annotate``: judge a record from a terminal."""

from __future__ import annotations

from pathlib import Path

from support.story import CALL, TURN, Invoke, fill
from turnspan.annotations import OUTCOMES
from turnspan_clickhouse.store.dsn import Dsn
from turnspan_console.commands import annotate


def test_a_record_is_judged_by_the_beginning_of_its_id(invoke: Invoke, tmp_path: Path) -> None:
    """Once, however often it is said; the next one of a kind holds; the id's kind is found out."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    fill(dsn)
    for _ in range(2):
        said = invoke(
            "--store", str(dsn), "annotate", TURN[:8], "--outcome", "used", "--score", "8",
            "--comment", "my key is sk-lf-01234567-89ab-cdef-0123-456789abcdef",
        )  # fmt: skip
        assert said.output == f"turn {TURN}: 3 judgments\n"
    again = invoke("--store", str(dsn), "annotate", TURN, "--outcome", "modified", "--author", "al")
    assert again.output == f"turn {TURN}: 1 judgment\n"
    chosen = invoke("--store", str(dsn), "annotate", CALL, "--over", "d4" * 8, "--flag", "-1")
    assert chosen.output == f"call {CALL}: 2 judgments\n"

    rows = invoke(
        "--store", str(dsn), "sql", "--format", "csv",
        "SELECT subject_kind, kind, outcome, score, rejected_id, training_flag"
        " FROM annotation_current ORDER BY subject_kind, kind",
    )  # fmt: skip
    assert rows.stdout.splitlines()[1:] == [
        f"call,preference,,,{'d4' * 8},",
        "call,training_flag,,,,-1",
        "turn,comment,,,,",
        "turn,outcome,modified,,,",
        "turn,score,,8.0,,",
    ]
    kept = invoke("--store", str(dsn), "sql", "SELECT count(), any(comment) FROM annotation")
    assert "sk-lf-0123" not in kept.stdout


def test_what_is_no_judgment_is_refused(invoke: Invoke, tmp_path: Path) -> None:
    """Nothing said, an unknown id, a number that is none: each with what to do."""
    dsn = Dsn(scheme="chdb", path=tmp_path / "store")
    fill(dsn)
    assert annotate.OUTCOMES == OUTCOMES
    nothing = invoke("--store", str(dsn), "annotate", TURN)
    assert (nothing.exit_code, "--outcome" in nothing.stderr) == (2, True)
    unknown = invoke("--store", str(dsn), "annotate", "0" * 16, "--flag", "1")
    assert (unknown.exit_code, "Nothing in chdb://" in unknown.stderr) == (1, True)
    odd = invoke("--store", str(dsn), "annotate", TURN, "--score", "nan")
    assert (odd.exit_code, "finite number" in odd.stderr) == (2, True)
