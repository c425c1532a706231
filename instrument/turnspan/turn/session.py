"""The conversation that turns belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Session:
    """The conversation that turns belong to. ``attributes`` go on every span within it."""

    id: str = ""
    user_id: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    loop: Mapping[str, Any] | None = None
    """The ids of the lineage, rollout and attempt around it: they go on every span as well."""
