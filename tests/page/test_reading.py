"""Reading a session closely: its times, its texts in several forms, what its tools were asked."""

from __future__ import annotations

from typing import Any

import pytest

from support.barriers import barriers
from support.hostile_session import MARKUP
from support.pages import Look, ServedPage, Watched
from support.reading_session import (
    DEEP,
    EDITING,
    NESTED,
    PARALLEL,
    SESSION,
    long_json,
)

DEEP_RESULT = "4ead0000000000c1"
LINES = ".waterfall tbody tr"
OTHERS = ("str_replace_editor", "shell", "replace_in_file", "MultiEdit", "Write", "exec")
CHOSEN = 'article[aria-current="true"]'


OPEN_TO_VIEW = """
(row) => {
  const { left, top } = row.getBoundingClientRect();
  return row.contains(document.elementFromPoint(left + 60, top + 20));
}
"""


def opened(look: Look, page: ServedPage, query: str = "", **options: Any) -> Watched:
    seen = look(page, f"/s/shop/{SESSION}?{query}", **options)
    seen.page.wait_for_selector(CHOSEN if "at=" in query else "article")
    return seen


def test_a_waterfall_beside_the_conversation(look: Look, made_page: ServedPage) -> None:
    """Every turn, call and tool on a line; parallel ones say so, a pause is folded; its keys and
    those of the conversation move one cursor."""
    seen = opened(look, made_page, bypass_csp=True)
    seen.press("w")
    seen.page.wait_for_selector(LINES)
    assert "w=1" in seen.path
    names = seen.page.locator(f"{LINES} td:first-child").all_inner_texts()
    assert [name.split("\n")[0].strip() for name in names] == [
        *("Turn 1 reader", "call 1", "search", "search", "bash"),
        *("nothing ran for 30.0 s", "call 2", "edit", "apply_patch", "search"),
        *("search", "Nested turn 2 helper", "call 3"),
        "nothing ran for 15.5 s",
    ]
    beside = ["parallel to 2 others" in name for name in names[:5]]
    assert beside == [False, False, True, True, True]
    levels = seen.page.eval_on_selector_all(LINES, "all => all.map(one => one.ariaLevel)")
    assert levels[0] == "1" and levels[12] == "3"
    bars = seen.page.eval_on_selector_all(
        f"{LINES} td:last-child svg",
        "all => all.map(one => Number(one.lastChild.getAttribute('x')))",
    )
    # What ran one after the other is so on the axis, and the pause takes next to nothing of it.
    assert bars[1] < bars[2] < bars[3] < bars[6] < bars[7] and bars[6] - bars[2] < 250
    seen.page.click(f"{LINES}:has-text('apply_patch')")
    assert "apply_patch" in seen.page.inner_text(CHOSEN)
    seen.page.focus(f"{LINES}[aria-selected=true]")
    seen.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowLeft")
    assert seen.page.evaluate("document.activeElement.innerText").startswith("Nested turn")
    assert "call 3" not in seen.page.inner_text(".waterfall")
    assert "Nested turn" in seen.page.inner_text(CHOSEN)
    seen.press("ArrowRight", "j")
    assert "call 3" in seen.page.inner_text(f"{LINES}[aria-selected=true]")
    assert barriers(seen) == []
    seen.page.reload()
    seen.page.wait_for_selector(f"{LINES}[aria-selected=true]:has-text('call 3')")


def test_markdown_is_shown_and_does_nothing(look: Look, made_page: ServedPage) -> None:
    """Marks, a table and a list are elements; markup, addresses and what a table would leave out
    are text; a link says where it leads before it can be followed. m shows it as it was written."""
    seen = opened(look, made_page, f"at={PARALLEL}", bypass_csp=True)
    told = seen.page.wait_for_selector(f"{CHOSEN} .markdown:has-text('a third cell')")
    assert told is not None
    for selector, text in (
        *((".title", "A title"), ("strong", "strong"), ("li li", "done:")),
        *(("th:nth-child(2)", "b"), ("code", "ESC")),
    ):
        assert text in seen.page.inner_text(f"{CHOSEN} .markdown {selector}")
    assert (
        seen.page.query_selector(".markdown :is(a, img, script, style, svg:not(.icon), b)") is None
    )
    text = told.inner_text()
    assert "[image: pixel, http://127.0.0.1:9/x.png]" in text and "<script>alert(1)" in text
    assert "\u202e" not in text
    seen.page.click(".told-link button:has-text('a link')")
    link = seen.page.locator(".told-link a")
    assert link.get_attribute("href") == "https://example.com/a?b=c"
    assert "noreferrer" in str(link.get_attribute("rel"))
    assert "https://example.com/a?b=c" in seen.page.inner_text(".told-link .address")
    seen.page.click(".told-link button:has-text('run')")
    assert "this address cannot be opened" in seen.page.inner_text(".markdown")
    assert seen.page.locator(".told-link a").count() == 1
    assert barriers(seen) == []
    for hidden in ("[ref]: https://example.com/hidden", "a title of a link"):
        assert hidden in text
    seen.press("m")
    seen.page.wait_for_selector(f"{CHOSEN} .markdown", state="detached")
    assert f"raw={PARALLEL}" in seen.path and MARKUP.split("|")[0] in seen.page.inner_text(CHOSEN)
    seen.page.click(f"{CHOSEN} .row-actions button:has-text('As written')")
    seen.page.wait_for_selector(f"{CHOSEN} .markdown")
    assert "raw=" not in seen.path


BUSY = ("> " * 20_000 + "x", "x." * 30_000 + "@", ("[" * 3_999 + " *a ") * 10)
"""What would keep a parser busy for seconds, or nest until it falls; and what only looks so."""


def test_hostile_markdown_keeps_nobody_waiting(look: Look, made_page: ServedPage) -> None:
    seen = opened(look, made_page, f"at={PARALLEL}")
    seen.page.wait_for_selector(".markdown table")
    refused: list[str] = seen.page.evaluate(
        """async (texts) => {
            const { read } = await import("/static/markdown.js");
            return texts.map((text) => read(text, 1).refused);
        }""",
        list(BUSY),
    )
    assert [bool(why) for why in refused] == [True, True, False]


@pytest.mark.release
def test_json_as_a_tree(look: Look, made_page: ServedPage) -> None:
    """200 levels and a list of 3,000 are there at once, folded, and open by keys; of 5 MB too,
    which come in pieces."""
    seen = opened(look, made_page, f"at={DEEP_RESULT}")
    seen.page.wait_for_selector(f"{CHOSEN} .tree")
    assert seen.page.locator(".tree details").count() == DEEP + 2
    assert "bottom: reached" in seen.page.inner_text(".tree").replace("\n", " ")
    assert seen.page.locator(".tree .leaf").count() <= 110
    seen.page.locator(".tree summary:has-text('3,000 items')").focus()
    seen.press("Enter")
    seen.page.click(".tree button:has-text('2,900 more')")
    seen.page.wait_for_selector(".tree button:has-text('1,900 more')")
    seen.page.locator(".tree summary").first.focus()
    seen.press("Enter")
    seen.page.wait_for_selector(".tree:not(:has-text('reached'))")
    seen.press("j")
    assert "Load all to see the JSON" in seen.page.inner_text(f"{CHOSEN} .load")
    pieces = f"{CHOSEN} .pieces"
    before = len(seen.page.inner_text(pieces))
    seen.page.click(f"{CHOSEN} .load button:has-text('Load more')")
    total = f"{len(long_json()):,}"
    seen.page.wait_for_selector(f"{CHOSEN} .load:has-text('of {total} characters')")
    assert seen.page.locator(f"{pieces} .verbatim").count() == 2
    assert before < 300_000
    seen.page.click(f"{CHOSEN} .load button:has-text('Load all')")
    seen.page.wait_for_selector(f"{pieces} .tree button:has-text('9,900 more of 10,000')")
    assert seen.page.locator(f"{CHOSEN} .load").count() == 0


def test_arguments_as_what_they_are(look: Look, made_page: ServedPage) -> None:
    """A command, edits by the names that agents give them, patches, texts with their own lines;
    the same call again says so, with a way to the first."""
    seen = opened(look, made_page, f"at={NESTED}")
    row = "article:has(strong:text-is('{}'))".format
    seen.page.wait_for_selector(f"{row('MultiEdit')} .patch")
    shown = {
        name: seen.page.locator(f"{row(name)} .given, {row(name)} .shell").first.inner_text()
        for name in ("bash", "edit", "apply_patch", *OTHERS)
    }
    lines = {name: [one.strip() for one in text.split("\n") if one] for name, text in shown.items()}
    assert lines["bash"] == ["$", "cd /tmp &&", "ls -l | head"]
    assert lines["edit"] == ["a.py", "one", "-two", "+2"]
    assert lines["apply_patch"][2:4] == ["-old", "+new"]
    assert lines["str_replace_editor"][:4] == ["b.py", "x", "-y", "+z"]
    assert lines["exec"] == ["*** Begin Patch", "-up", "+down"]
    assert lines["shell"] == ["$", "ls -l"]
    assert lines["replace_in_file"] == ["c.py", "-far", "+near"]
    assert lines["MultiEdit"] == ["d.py", "-p", "+q", "-r", "+s"]
    assert lines["Write"] == ["file_path", "e.py", "content", "def f():", "pass"]
    again = seen.page.locator("article .warn:has-text('3rd time, same arguments, same result')")
    assert again.count() == 1
    again.get_by_text("first").click()
    seen.page.wait_for_selector(f"{CHOSEN}:has-text('3 calls in one answer')")
    assert seen.page.locator("article.together").count() == 3 + 4 + len(OTHERS)


@pytest.mark.release
def test_the_frame_of_a_replay(look: Look, made_page: ServedPage) -> None:
    """The header stays; a session is narrowed to failures or tools, and a link out of that leads
    back; what is known of a row stands in tabs that close; images are shown from their bytes only.
    """
    seen = opened(look, made_page, f"at={PARALLEL}", width=390)
    seen.page.wait_for_selector(f"{CHOSEN} img")
    drawn = "all => all.map(one => one.complete && one.naturalWidth)"
    seen.page.wait_for_function("() => document.querySelector('article img').complete")
    assert seen.page.eval_on_selector_all(f"{CHOSEN} img", drawn) == [1]
    assert "http://127.0.0.1:9/y.png" in seen.page.inner_text(CHOSEN)
    shell = seen.page.locator("article:has(strong:text-is('bash'))")
    shell.scroll_into_view_if_needed()
    shell.locator("img").wait_for()
    assert not seen.page.locator("main kbd:visible").count()
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    top = "document.querySelector('header.stays').getBoundingClientRect().top"
    seen.page.evaluate("scrollTo(0, 3000)")
    assert seen.page.evaluate(top) == 0
    seen.go(f"/s/shop/{SESSION}")  # where no row is chosen
    shell.wait_for()
    assert not seen.page.locator(".inspector").is_visible()
    shell.evaluate("row => scrollBy(0, row.getBoundingClientRect().top - innerHeight + 130)")
    shell.click(position={"x": 60, "y": 20})
    assert "bash" in seen.page.inner_text(".inspector")
    # What is known of a row does not lie over it, once that has been drawn.
    seen.page.wait_for_function(OPEN_TO_VIEW, arg=shell.element_handle())
    seen.page.set_viewport_size({"width": 1280, "height": 800})
    seen.page.click("header button:has-text('Only tools')")
    seen.page.wait_for_selector("article.call-row", state="detached")
    tools = seen.page.locator("article.tool-row").count()
    seen.page.click("header button:has-text('Only failures')")
    seen.page.wait_for_function("n => document.querySelectorAll('.tool-row').length < n", arg=tools)
    assert "only=tools+failures" in seen.path
    seen.page.click("text=3rd time, same arguments >> a:has-text('first')")
    seen.page.wait_for_selector(f"{CHOSEN}:has-text('search')")
    assert "only=" not in seen.path
    for tab, text in (("Cost", "not known"), ("Judgments", "Not judged yet"), ("JSON", "call_id")):
        seen.page.click(f".tabs button:has-text('{tab}')")
        seen.page.wait_for_selector(f".inspector:has-text('{text}')")
    seen.page.click(".tabs button:has-text('Close')")
    seen.page.wait_for_selector(".inspector", state="detached")
    assert "i=off" in seen.path
    seen.page.click(f"{CHOSEN} .row-actions button:has-text('Select')")
    seen.page.wait_for_selector(
        f"{CHOSEN} .row-actions button[aria-pressed=true]:has-text('Select')"
    )
    seen.press("n")
    seen.page.click(f"{CHOSEN} .row-actions button:has-text('Judge turn')")
    seen.page.wait_for_selector(".review")


def test_a_turn_before_its_first_call_ends(look: Look, made_page: ServedPage) -> None:
    """What is known of it is shown: what the user said. What is not stored yet is named."""
    seen = look(made_page, "/s/shop/waiting?f=1")
    seen.page.wait_for_selector(".message.user strong:text-is('left')")
    assert "No running model call of it is stored" in seen.page.inner_text(".stop")


def test_a_call_is_walked_and_saved(look: Look, made_page: ServedPage) -> None:
    """j goes to its messages, m shows one as it was written; the button saves the whole call."""
    seen = look(made_page, f"/call/shop/{EDITING}")
    seen.page.wait_for_selector(".message .form")
    seen.press("j", "j", "j")
    seen.page.wait_for_selector('li[aria-current="true"] .tree')
    seen.press("m")
    seen.page.wait_for_selector('li[aria-current="true"] .tree', state="detached")
    assert "at=3" in seen.path and "raw=" in seen.path
    with seen.page.expect_download() as download:
        seen.page.click("text=Save as HTML")
    html = download.value.path().read_text()
    assert download.value.suggested_filename == f"{EDITING}.html"
    for text in ("Content-Security-Policy", "A title", "&lt;script&gt;alert"):
        assert text in html
    assert "<script" not in html and "apply_patch" in html and "reached" in html
