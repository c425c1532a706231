"""The keyword classifier of turn intents."""

from __future__ import annotations

import pytest

from turnspan.turn.intent import classify_intent


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Go ahead", "autonomous"),
        ("go ahead and deploy the service", "autonomous"),
        ("yes, do it", "autonomous"),
        ("Continue.", "autonomous"),
        ("Deploy to staging", "deploy"),
        ("ship it", "deploy"),
        ("We are shipping on Friday, prepare the notes", "deploy"),
        ("Cut a new release", "deploy"),
        ("publish the package", "deploy"),
        ("add a button", "small_fix"),
        ("  Add a button  ", "small_fix"),
        ("create " + "x" * 43, "small_fix"),
        ("create " + "x" * 44, "feature_build"),
        ("Implement OAuth login with refresh tokens and tests for both", "feature_build"),
        ("Why does the login not work", "diagnose"),
        ("it is broken", "diagnose"),
        ("the API returns 502 for every call", "diagnose"),
        ("we see 5xx from the gateway", "diagnose"),
        ("fix the typo in the header", "diagnose"),
        ("requests keep timing out", "diagnose"),
        ("what's the status of the job?", "status_check"),
        ("show me the last ten orders", "status_check"),
        ("check my booking, please", "status_check"),
        ("tail the logs", "status_check"),
        ("ok", "conversational"),
        ("", "conversational"),
        ("thanks, that was exactly what I was looking for", "conversational"),
        ("hello there, how are you doing today?", "conversational"),
        ("No, I would rather have the aisle seat", "conversational"),
        ("I want a page that lists all our customers", "feature_build"),
    ],
)
def test_the_first_rule_that_holds_wins(text: str, expected: str) -> None:
    """Rules hold in their order, on the trimmed, lower-cased text."""
    assert classify_intent(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I would like to renew my membership for next year",
        "Tell me the address of the relationship manager in Rome",
        "The shipment went to the wrong place in the mountains",
        "Prefixes and suffixes of Latin words are what I study",
        "A catalogue of showers and checkers boards is what I need",
    ],
)
def test_keywords_inside_other_words_do_not_count(text: str) -> None:
    """ "ship" is no part of "membership", "fix" none of "prefixes"."""
    assert classify_intent(text) == "feature_build"
