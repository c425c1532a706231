"""The ids of runs that are found in a log: the same whenever and wherever it is grouped."""

from __future__ import annotations

import datetime
import hashlib
from typing import Final

from ksuid import Ksuid

_EPOCH: Final = 1_400_000_000
"""Where a KSUID's seconds begin."""


def run_id(output: str, began: int) -> str:
    """The KSUID of the run with this output row, which began at this microsecond."""
    seconds = min(max(began // 1_000_000, _EPOCH), _EPOCH + 2**32 - 1)
    time = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    payload = hashlib.blake2b(output.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return str(Ksuid(time, payload))
