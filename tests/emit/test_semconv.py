"""Our names are the conventions' names."""

from __future__ import annotations

from support.semconv_registry import registry
from turnspan import semconv


def test_every_gen_ai_name_is_in_the_registry() -> None:
    """No gen_ai.* or openai.* name of ours is unknown: an attribute, a metric or an event."""
    known = registry()
    names = {
        value
        for name, value in vars(semconv).items()
        if name.isupper() and isinstance(value, str) and value.startswith(("gen_ai.", "openai."))
    }

    assert len(names) > 60
    assert names - set(known.types) - set(known.metrics) - set(known.events) == set()
