"""Views of the page that were saved under a name: addresses of a list with all that is chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from turnspan_clickhouse.store.client import Store
from turnspan_console.saved_texts import VIEWS, SavedTextError
from turnspan_console.web.api.refusals import understood
from turnspan_console.web.endpoints import NoQuery, endpoint

Address = Annotated[str, Meta(pattern=r"^/(?![/\\])", max_length=20_000)]
"""An address of this page without its origin: one that led elsewhere would be a trap."""


@dataclass(frozen=True, slots=True)
class SavedView:
    """An address with its name."""

    name: str
    address: Address


@dataclass(frozen=True, slots=True)
class RenameViewQuery:
    """Which view, and its new name."""

    name: str
    new: str


@dataclass(frozen=True, slots=True)
class ViewName:
    """Which view."""

    name: str


@dataclass(frozen=True, slots=True)
class SavedViewsAnswer:
    """All of them, in the order of their names."""

    views: list[SavedView]


def _all() -> SavedViewsAnswer:
    with understood(SavedTextError):
        return SavedViewsAnswer([SavedView(*one) for one in VIEWS.all().items()])


@endpoint("GET", "/api/views", "The views that were saved.")
def _views(_store: Store, _query: NoQuery) -> SavedViewsAnswer:
    return _all()


@endpoint("POST", "/api/views/save", "Save a view under a name.")
def _save(_store: Store, query: SavedView) -> SavedViewsAnswer:
    with understood(SavedTextError):
        VIEWS.save(query.name, query.address)
    return _all()


@endpoint("POST", "/api/views/rename", "Give a view another name.")
def _rename(_store: Store, query: RenameViewQuery) -> SavedViewsAnswer:
    with understood(SavedTextError):
        VIEWS.rename(query.name, query.new)
    return _all()


@endpoint("POST", "/api/views/remove", "Remove a view.")
def _remove(_store: Store, query: ViewName) -> SavedViewsAnswer:
    with understood(SavedTextError):
        VIEWS.delete(query.name)
    return _all()
