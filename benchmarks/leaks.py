"""How many of a million random secrets pass the masks.

    make bench ARGS=leaks        (or: python benchmarks/leaks.py [--count 1000000] [--seed 1])

Secrets of every rule, each in every surrounding (JSON, YAML, URLs, diffs, colours, ...), as in
``tests/support/made_secrets.py``. One passes if sixteen characters of it in a row are left.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "tests")]

from support.made_secrets import SURROUNDINGS, Secrets, is_left  # noqa: E402
from turnspan.redaction.secrets import mask_secrets  # noqa: E402


def main() -> None:
    """Print what passes, by rule and surrounding."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    each = options.count // len(SURROUNDINGS) + 1
    passed: Counter[tuple[str, str]] = Counter()
    for number, (name, around) in enumerate(SURROUNDINGS.items()):
        for rule, text, secret in itertools.islice(Secrets(options.seed + number), each):
            if is_left(secret, mask_secrets(around(text))):
                passed[rule, name] += 1
    print(f"{each * len(SURROUNDINGS):,} secrets of {Secrets(0).rules} rules in", end=" ")
    print(f"{len(SURROUNDINGS)} surroundings: {sum(passed.values())} pass")
    for (rule, name), count in passed.most_common(20):
        print(f"{count:6}  {rule} in {name}")


if __name__ == "__main__":
    main()
