"""Groups a log and writes into it, until it is done or killed: run by ``test_grouping_writing``."""

from __future__ import annotations

import sys
from pathlib import Path

from turnspan_llm.grouping.log_writer import write
from turnspan_llm.grouping.runs import group

if __name__ == "__main__":
    log = Path(sys.argv[1])
    found = group(log)
    print("writing", flush=True)
    write(log, found)
    print("written", flush=True)
