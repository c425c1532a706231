"""What `make test` takes of a family of tests that prove one thing many times: the others have the
marker ``release``, and `make test-release` runs them."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Container, Iterable
from typing import Any, Final

import pytest

_KINDS: Final = ("store_kind", "module_store", "store")
"""The parameters that say which kind of store a test runs on."""


def few(cases: Iterable[Any], kept: Container[Any]) -> list[Any]:
    """The values of a parameter; `make test` takes those that are kept."""
    return [
        case if case in kept else pytest.param(case, marks=pytest.mark.release) for case in cases
    ]


def first_on(kind: str, fixture: str = "store_kind") -> pytest.MarkDecorator:
    """A test of both kinds of store, of which `make test` takes one: what it is about is asked of
    the other by other tests as well."""
    return pytest.mark.parametrize(fixture, few(("embedded", "server"), (kind,)), indirect=True)


def one_kind_of_store(items: Iterable[pytest.Function]) -> None:
    """Leave each test of both kinds of store to `make test` on one of them: on which, that takes
    turns from file to file. So it is in records/, but for files with the marker ``both_kinds``,
    which are about what differs, and in files with ``both_kinds(False)``."""
    variants: defaultdict[Any, dict[str, pytest.Function]] = defaultdict(dict)
    for item in items:
        values = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        kinds = [str(values.pop(name)) for name in _KINDS if name in values]
        marker = item.get_closest_marker("both_kinds")
        both = marker.args != (False,) if marker else item.path.parent.name != "records"
        if kinds and not both and not item.get_closest_marker("release"):
            variants[item.path, item.originalname, repr(values)][kinds[0]] = item
    for (path, *_), by_kind in variants.items():
        if len(by_kind) > 1:
            other = sorted(by_kind)[zlib.crc32(path.name.encode()) % 2]
            by_kind[other].add_marker(pytest.mark.release)
