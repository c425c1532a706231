"""What `make test` takes of a family of tests that prove one thing many times: the others have the
marker ``release``, and `make test-release` runs them."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest


def few(cases: Iterable[Any], kept: Container[Any]) -> list[Any]:
    """The values of a parameter; `make test` takes those that are kept."""
    return [
        case if case in kept else pytest.param(case, marks=pytest.mark.release) for case in cases
    ]


def first_on(kind: str, fixture: str = "store_kind") -> pytest.MarkDecorator:
    """A test of both kinds of store, of which `make test` takes one: what it is about is asked of
    the other by other tests as well."""
    return pytest.mark.parametrize(fixture, few(("embedded", "server"), (kind,)), indirect=True)
