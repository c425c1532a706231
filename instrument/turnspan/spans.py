"""Writing attributes to a span in one step.

``Span.set_attributes`` of the SDK looks at each value by its abstract types and takes a lock for
each attribute: half a microsecond apiece, a fifth of what a whole model call may cost. Where the
span is built as we know it, and the values are of the plain types that need no cleaning, they are
put where the SDK would put them, under its lock; anywhere else the SDK does it.
"""

from __future__ import annotations

from typing import Any, Final

from opentelemetry.attributes import BoundedAttributes
from opentelemetry.trace import Span

from turnspan.content.shapes import kind_of

_PLAIN: Final = frozenset({str, int, float, bool})
_TEXT: Final = frozenset({str})


def set_attributes(span: Span, attributes: dict[str, Any]) -> None:
    """Set these attributes; the same as ``span.set_attributes``, limits and all."""
    if attributes and not _set_at_once(span, attributes):
        span.set_attributes(attributes)


def _set_at_once(span: Any, attributes: dict[str, Any]) -> bool:
    """Whether they could be set so; if not, nothing was set."""
    kept: Any = getattr(span, "_attributes", None)
    if kind_of(kept) is not BoundedAttributes:
        return False
    for value in attributes.values():
        if type(value) not in _PLAIN and not _is_texts(value):
            return False
    try:
        with kept._lock:
            if kept._immutable or kept.max_value_len is not None:  # ended; or texts may be cut
                return False
            values: dict[str, Any] = kept._dict
            limit = kept.maxlen
            if limit is not None and len(values) + len(attributes) > limit:
                return False
            values.update(attributes)
    except AttributeError:  # another version of OpenTelemetry keeps them elsewhere
        return False
    return True


def _is_texts(value: Any) -> bool:
    """Whether this is a tuple of texts, the form in which the SDK keeps a sequence."""
    return kind_of(value) is tuple and _TEXT.issuperset(map(type, value))
