"""What one test configures is not in force in the next, whichever that is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from turnspan import config


@pytest.fixture(autouse=True)
def settings_stay_with_their_test() -> Iterator[None]:
    """``shutdown`` leaves the settings that ``configure`` has put in force."""
    before = config.of_process()
    yield
    if config.of_process() is not before:
        config.activate(before)
