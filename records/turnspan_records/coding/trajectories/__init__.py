"""Sessions in the formats of others: Agent Trace, ATIF and Inspect logs."""

from __future__ import annotations

from turnspan_records.coding.trajectories.corrected_edits import (
    corrected_edits as corrected_edits,
)
from turnspan_records.coding.trajectories.trajectory_export import (
    TrajectoryCounts as TrajectoryCounts,
)
from turnspan_records.coding.trajectories.trajectory_export import (
    TrajectoryRequest as TrajectoryRequest,
)
from turnspan_records.coding.trajectories.trajectory_export import (
    export_trajectories as export_trajectories,
)
