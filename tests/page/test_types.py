"""The page's types and files are those of the sources."""

from __future__ import annotations

import runpy

from support.shared import REPOSITORY
from turnspan_console.web.api import endpoints
from turnspan_console.web.openapi import description, schemas

PAGE = REPOSITORY / "console" / "page"


def test_the_pages_types_are_the_endpoints() -> None:
    """`make web` writes them."""
    written = runpy.run_path(str(REPOSITORY / ".ci" / "page_types.py"))["written"]
    assert (PAGE / "src" / "types.ts").read_text("utf-8") == written(endpoints())


def test_an_endpoint_has_a_path_and_types_of_its_own() -> None:
    """Two types of one name would be one to the page."""
    paths = [one.path for one in endpoints()]
    assert len(set(paths)) == len(paths)
    assert all(path.startswith("/api/") for path in paths)
    kinds = {kind for one in endpoints() for kind in (one.query, one.answer)}
    assert len({kind.__name__ for kind in kinds}) == len(kinds)
    assert {kind.__name__ for kind in kinds} <= set(schemas(endpoints()))


def test_the_description_names_every_endpoint() -> None:
    """With what is asked and answered."""
    told = description(endpoints())
    assert set(told["paths"]) == {one.path for one in endpoints()}
    for one in endpoints():
        operation = told["paths"][one.path][one.method.lower()]
        assert operation["responses"]["200"]["content"]["application/json"]["schema"]


def test_the_first_script_stays_small() -> None:
    """At most 80 KB as a browser gets it, in two files, and 1 KB that asks before. The screens that
    come later have 40; what single screens load has 170 together."""
    import gzip

    static = REPOSITORY / "console" / "turnspan_console" / "web" / "static"
    sizes = {
        path.name: len(gzip.compress(path.read_bytes(), 9))
        for path in static.iterdir()
        if path.suffix in (".js", ".css")
    }
    assert sizes.pop("first.js") <= 1024
    assert sizes.pop("app.js") + sizes.pop("shared.js") <= 80 * 1024
    assert sizes.pop("more_screens.js") <= 40 * 1024
    assert sizes.pop("app.css") <= 12 * 1024
    assert {"charts.js", "editor.js"} <= set(sizes)
    assert sum(sizes.values()) <= 170 * 1024
