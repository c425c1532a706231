"""Our names are the conventions' names."""

from __future__ import annotations

import json

from support.shared import REPOSITORY
from turnspan import semconv


def test_every_gen_ai_name_is_in_the_registry() -> None:
    """No gen_ai.* or openai.* attribute of ours is unknown to the registry."""
    registry = json.loads((REPOSITORY / "tests/data/semconv_attributes.json").read_text())
    names = {
        value
        for name, value in vars(semconv).items()
        if name.isupper() and isinstance(value, str) and value.startswith(("gen_ai.", "openai."))
    }

    assert len(names) > 30
    assert names - set(registry["attributes"]) == set()
