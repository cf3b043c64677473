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
    ("The endpoint needs a token for reads.", "The endpoint has a token for reads."),
    ("Pin react to ^18.2", "Pin react to 18.2"),
    ("Prices are in €.", "Prices are in $."),
)
CHANGED = (
    ("Der Zweig erlaubt das Pushen von allen Rechnern.", "nicht"),
    ("Il ramo principale permette il push forzato dei manutentori.", "non"),
    ("O ramo principal permite o push forçado.", "não"),
    ("Главная ветка разрешает принудительный push.", "не"),
)
UPDATES = (
    ("主分支允许强制推送。", "主分支不允许强制推送。"),
    ("生产环境启用了调试日志。", "生产环境没有启用调试日志。"),
    ("本番環境ではログを有効にする。", "本番環境ではログを有効にしない。"),
    ("La branche accepte les poussées forcées.", "La branche n'accepte pas les poussées forcées."),
    ("Use the request library for HTTP.", "Use the requests library for HTTP."),
    ("Run `make test`", "Run `make tests`"),
    ("Keep the tone casual in the report text.", "Keep the tone causal in the report text."),
    ("Only admins can delete projects.", "Everyone can delete projects."),
    ("Only Anna approves refunds.", "Anna approves refunds."),
    ("Most endpoints need a token.", "All endpoints need a token."),
    ("Durations in the report are in days", "Durations in the report are in weeks"),
    ("Die Frist beträgt drei Tage.", "Die Frist beträgt fünf Tage."),
    ("Staging mirrors production.", "Production mirrors staging."),
    ("Check types with `tox types`.", "Check types with `nox types`."),
    ("Only accounts in the US pay duties.", "Only accounts in the EU pay duties."),
    ("Mirko approves database access.", "Selma approves database access."),
    ("The inbox shows pinned threads first.", "The inbox shows unread threads first."),
    ("The report prints the mean duration.", "The report prints the median duration."),
    ("Exports run within 25 MB of memory.", "Exports run within 25GB of memory."),
)


@pytest.mark.parametrize(("text", "denial"), CHANGED)
def test_a_denial_of_another_language_is_an_update(text: str, denial: str) -> None:
    first, *rest = text.split(" ")
    for place in range(1, len(rest)):
        denied = " ".join([first, *rest[:place], denial, *rest[place:]])
        assert compare(text, denied).verdict == "update", denied
        assert compare(denied, text).verdict == "update", denied


@pytest.mark.parametrize("pair", UPDATES, ids=[a for a, _ in UPDATES])
def test_another_name_number_limit_or_order_is_an_update(pair: tuple[str, str]) -> None:
    first, second = pair
    assert compare(first, second).verdict == "update"
    assert compare(second, first).verdict == "update"


@pytest.mark.parametrize("pair", PAIRS, ids=[a for a, _ in PAIRS])
def test_one_changed_word_is_never_a_duplicate(pair: tuple[str, str]) -> None:
    first, second = pair
    assert compare(first, second).verdict != "duplicate"
    assert compare(second, first).verdict != "duplicate"


def test_what_is_checked_against_a_thing_is_not_denied() -> None:
    first = "Tokens are checked with the public key, not the shared secret."
    second = "Check tokens against the public key rather than the shared secret."
    assert compare(first, second).verdict != "update"
    assert compare("We decided for Kafka.", "We decided against Kafka.").verdict == "update"


def test_something_else_done_with_a_thing_is_another_fact() -> None:
    answer = compare("Fonts are bundled.", "Fonts are subsetted by fonttools in the release.")
    assert answer.verdict != "update"


def test_a_hyphen_more_is_the_same_note() -> None:
    answer = compare("The staging database is read only", "The staging database is read-only.")
    assert answer.verdict == "duplicate"
