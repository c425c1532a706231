"""Who does the tasks of ``page_tasks.py`` in a browser: follows the screen, and counts."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect


class Person:
    """Who looks, clicks and types."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = 0
        self.keys = 0

    def sees(self, wanted: str | Locator) -> Locator:
        """Wait until it is visible: a text, or what a selector beginning with ``css=`` finds."""
        found = self._located(wanted)
        expect(found).to_be_visible()
        return found

    def clicks_on(self, wanted: str | Locator) -> None:
        """A link, button, tab or text by what is written on it."""
        self._located(wanted).click()
        self.clicks += 1

    def types(self, text: str) -> None:
        """One key a character."""
        self.page.keyboard.type(text)
        self.keys += len(text)

    def pastes(self, text: str) -> None:
        """Ctrl+V, of what another program shows."""
        self.page.keyboard.insert_text(text)
        self.keys += 1

    def presses(self, *keys: str) -> None:
        """One after the other; a key with modifiers counts once."""
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1

    def _located(self, wanted: str | Locator) -> Locator:
        if not isinstance(wanted, str):
            return wanted.first
        if wanted.startswith("css="):
            return self.page.locator(wanted).first
        exact = re.compile(rf"^\s*{re.escape(wanted)}(?!\w)")
        ways = [self.page.get_by_role(role, name=exact) for role in ("link", "button", "tab")]
        found = self.page.get_by_text(exact)
        for way in ways:
            found = way.or_(found)
        return found.locator("visible=true").first


Doing = Callable[[Person], None]
