"""A rerun in the user's process: a program runs again with what was recorded.

Where ``TURNSPAN_RERUN`` names a rerun's server, importing this switches the rerun on: requests to
models go to the server, tools get their recorded results, no byte leaves the machine, and what is
recorded belongs to sessions of the rerun's own.
"""

from __future__ import annotations

from turnspan.wire.rerunning.environment import RerunEnvironment
from turnspan.wire.rerunning.switch import begin, begin_from_environment, end

__all__ = ["RerunEnvironment", "begin", "end"]

begin_from_environment()
