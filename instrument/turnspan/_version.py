"""The version of Turnspan: this line is its only place; the build and the change log follow it."""

from __future__ import annotations

__version__ = "0.1.0"
