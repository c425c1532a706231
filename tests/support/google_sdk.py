"""The google-genai SDK, untyped: the stubs of protobuf claim its namespace for a type checker."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

genai: Final[Any] = import_module("google.genai")
types: Final[Any] = import_module("google.genai.types")
errors: Final[Any] = import_module("google.genai.errors")
credentials: Final[Any] = import_module("google.oauth2.credentials")
