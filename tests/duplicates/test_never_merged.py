"""Notes that differ in one name, number, sign or denial are never one note."""

import pytest

from ijfw_plugins.score_duplicates import compare

PAIRS = (
    ("Andersen owns the billing service", "Anderson owns the billing service"),
    ("Set MAX_CONNS to 20 in production", "Set MAX_CONN to 20 in production"),
    ("The bucket is acme-assets-eu", "The bucket is acme-assets-us"),
    ("temperature > 0.5", "temperature < 0.5"),
    ("x >= 3", "x > 3"),
    ("The price is $5", "The price is €5"),
    ("The flag is --no-cache", "The flag is --cache"),
    ("use non-blocking sockets", "use blocking sockets"),
    ("Use GET for the search endpoint", "Use POST for the search endpoint"),
    ("The ratio is 1:2", "The ratio is 2:1"),
    ("version = 2.0.0", "version = 2.0.0-rc1"),
    ("merge commits are not allowed", "merge commits are now allowed"),
    ("mit Cache bauen", "ohne Cache bauen"),
    ("Kein lodash verwenden", "lodash verwenden"),
    ("不要使用 Redis", "使用 Redis"),
    ("sans cache", "avec cache"),
)


@pytest.mark.parametrize("pair", PAIRS, ids=[a for a, _ in PAIRS])
def test_one_changed_word_is_never_a_duplicate(pair: tuple[str, str]) -> None:
    first, second = pair
    assert compare(first, second).verdict != "duplicate"
    assert compare(second, first).verdict != "duplicate"


def test_a_hyphen_more_is_the_same_note() -> None:
    answer = compare("The staging database is read only", "The staging database is read-only.")
    assert answer.verdict == "duplicate"
