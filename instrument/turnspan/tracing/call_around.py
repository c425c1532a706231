"""A call of a library that makes model calls through SDKs: it names them, and learns of them.

The SDK knows the exact request and reply, the library above it what they are about. So the SDK's
call is what is recorded, with the library's attributes; the library records one itself only where
no SDK did.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from opentelemetry import context as otel_context

AROUND_KEY: Final = otel_context.create_key("turnspan-call-around")


class CallAround:
    """A library's call under way, in the context of what it does."""

    __slots__ = ("attributes", "recorded")

    def __init__(self, attributes: Mapping[str, Any]) -> None:
        self.attributes = attributes
        """What the library knows of the call: goes on the span of each SDK's call within."""
        self.recorded = False
        """Whether any model call was recorded within."""

    def has_begun(self, attributes: dict[str, Any]) -> None:
        """A model call within begins with these attributes."""
        self.recorded = True
        attributes.update(self.attributes)
