"""Groups a log and writes into it, until it is done or killed: run by ``test_grouping_writing``."""

from __future__ import annotations

import sys
from pathlib import Path

from turnspan_records.consortium.grouping import group
from turnspan_records.consortium.grouping_writing import write

if __name__ == "__main__":
    log = Path(sys.argv[1])
    found = group(log)
    print("writing", flush=True)
    write(log, found)
    print("written", flush=True)
