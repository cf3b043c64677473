"""What the plugin answers for one event."""

import re
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ijfw_core.text import wrap_memory
from ijfw_hookspecs import AgentEvent, EventKind, Signal
from ijfw_plugins.signals_feedback import on_signal
from ijfw_plugins.signals_feedback.rewrite import LONGEST

NOW = datetime(2026, 5, 1, tzinfo=UTC)
OPTIONS = "Two ways:\n\nA) eager index\nB) lazy snippets without a prefix index\n\nWhich one?"


def event(
    text: str, reply: str = "", kind: EventKind = "prompt", synthetic: bool = False
) -> AgentEvent:
    return AgentEvent(
        platform="test",
        kind=kind,
        session="s",
        at=NOW,
        cwd="/p",
        text=text,
        reply=reply,
        synthetic=synthetic,
    )


def said(text: str, reply: str = "") -> list[Signal]:
    """The feedback in a prompt, without its intent."""
    found = on_signal(event=event(text, reply)) or []
    return [signal for signal in found if signal.kind != "intent"]


def one(text: str, reply: str = "") -> Signal:
    (signal,) = said(text, reply)
    return signal


def strong(signal: Signal) -> str:
    """The strength of a signal, without the family of its evidence."""
    return signal.signature.partition(":")[0]


STATEMENTS = """
No, don't use unittest. From now on use pytest. | rule | marker | use pytest, not unittest
don’t use any, use unknown | correction | object | use unknown, not any
Use httpx instead of requests please | correction | object | use httpx, not requests
never commit to main; open a PR | rule | marker | never commit to main; open a PR
I prefer tabs over spaces | preference | marker | prefer tabs over spaces
I hate emojis in commit messages | preference | marker | avoid emojis in commit messages
please always use pnpm in this repo | rule | marker | always use pnpm in this repo
let's stick with REST | decision | object | stick with REST
no. the cache is in redis, not in ram | correction | fact | the cache is in redis, not in ram
that's wrong. The port is 8443 | correction | claim | the port is 8443
nah, too clever. simple for loop please | correction | claim | too clever; simple for loop
It has tabs. That's not our style | correction | claim | it has tabs; that's not our style
I think you got the axes backwards | correction | claim | you got the axes backwards
ok sqlite it is then | decision | object | sqlite
nee moment, that's not the bug | correction | claim | nee moment, that's not the bug
以后都用 pytest,不要用 unittest | rule | marker | 用 pytest,不要用 unittest
"""


@pytest.mark.parametrize("line", STATEMENTS.strip().splitlines())
def test_the_statement_stands_alone(line: str) -> None:
    text, kind, strength, statement = line.split(" | ")
    signal = one(text)
    assert (signal.kind, strong(signal), signal.text) == (kind, strength, statement)


@pytest.mark.parametrize(
    ("text", "statement"),
    [
        ("B", "chose option B: lazy snippets without a prefix index"),
        ("let's do the lazy one", "chose option B: lazy snippets without a prefix index"),
        ("the second one please", "chose option B: lazy snippets without a prefix index"),
        ("It's b", "chose option B: lazy snippets without a prefix index"),
        ("go with option A", "chose option A: eager index"),
        (
            "both",
            "chose options A and B: eager index; lazy snippets without a prefix index",
        ),
    ],
)
def test_a_choice_carries_the_text_of_its_option(text: str, statement: str) -> None:
    signal = one(text, OPTIONS)
    assert signal.kind == "decision"
    assert signal.signature == "option"
    assert signal.text == statement
    assert signal.about.endswith("Which one?")


def test_yes_with_a_choice_is_an_approval_and_a_decision() -> None:
    assert {signal.kind for signal in said("yes, B", OPTIONS)} >= {"decision"}
    assert any("lazy snippets" in signal.text for signal in said("yes, B", OPTIONS))


def test_the_answer_to_an_either_or_question() -> None:
    signal = one("postgres", "Which database should I target: postgres or mysql?")
    assert (signal.kind, signal.text) == ("decision", "chose postgres")


@pytest.mark.parametrize(
    ("text", "reply", "statement"),
    [
        ("the boring one", "Boring: a cron entry. Fancy: a workflow engine.", "a cron entry"),
        ("die zweite Variante", "Variante eins: ein Cronjob. Variante zwei: ein Worker.", "Worker"),
        ("second one, less work", "We could patch it, or we could upgrade the lib.", "upgrade"),
    ],
)
def test_options_are_known_by_their_words(text: str, reply: str, statement: str) -> None:
    signal = one(text, reply)
    assert (signal.kind, signal.signature) == ("decision", "option")
    assert statement in signal.text


def test_an_answer_that_wants_none_of_it_is_a_decision() -> None:
    assert one("no cap for now", "Should there be a cap on uploads?").kind == "decision"
    assert said("no idea", "Should there be a cap on uploads?") == []


def test_an_answer_to_a_question_for_a_fact_is_no_decision() -> None:
    assert said("the port is 8081", "Which port does the service listen on?") == []
    assert one("8081", "Which port should it listen on?").kind == "decision"


def test_a_choice_without_known_options_is_weak() -> None:
    assert one("option 2").signature == "bare"


def test_a_bare_approval_tells_what_was_approved() -> None:
    signal = one("yes do it", "I can move the cache to disk. Shall I move the cache to disk?")
    assert signal.kind == "confirmation"
    assert signal.signature == "bare"
    assert "move the cache to disk" in signal.text


def test_a_bare_refusal_is_weak_and_tells_what_was_refused() -> None:
    signal = one("no", "Should I delete the old index?")
    assert (signal.kind, signal.signature) == ("correction", "bare")
    assert "delete the old index" in signal.text


def test_work_at_hand_is_no_standing_wish() -> None:
    assert one("don't touch the config").signature == "claim"
    assert strong(one("don't add comments that restate the code")) == "object"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("from now on use pytest, not unittest", "going forward, use pytest, not unittest"),
        ("No, don't use unittest. From now on use pytest.", "use pytest instead of unittest"),
        ("don't use lodash", "please stop using lodash"),
        ("I prefer small commits", "we prefer small commits"),
        ("always run the linter before commits", "please always run the linter before commits"),
    ],
)
def test_the_same_wish_in_other_words_has_the_same_key(first: str, second: str) -> None:
    assert one(first).key == one(second).key
    assert one(first).key.startswith("pref:")


def test_opposite_wishes_have_different_keys() -> None:
    assert one("use pytest, not unittest").key != one("use unittest, not pytest").key
    assert one("always use tabs in yaml").key != one("never use tabs in yaml").key


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "[Request interrupted by user for tool use]",
        "This session is being continued from a previous conversation. User: always use pnpm.",
        "<command-name>/clear</command-name>",
        "<local-command-stdout>no, wrong</local-command-stdout>",
        "/compact never forget the plan",
        "[Image #1]",
        wrap_memory("always use pnpm, never npm"),
        wrap_memory("always use pnpm").replace("<", "&lt;").replace(">", "&gt;"),
        "# Context from my IDE setup:\n\n## Open tabs:\n- never.ts: src/never.ts\n",
    ],
)
def test_what_nobody_typed_gives_nothing_at_all(text: str) -> None:
    assert not on_signal(event=event(text))


def test_only_prompts_of_people_count() -> None:
    assert on_signal(event=event("never use npm", synthetic=True)) is None
    assert on_signal(event=event("never use npm", kind="turn_end")) is None


def test_the_request_inside_an_ide_wrapper_counts() -> None:
    wrapped = "# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\n"
    assert one(wrapped + "never use npm here, use pnpm").kind == "rule"


@pytest.mark.parametrize(
    "text",
    [
        'The docs say "always call close() after use". Where do we do that?',
        "> never use a global here\nplease answer this comment",
        "From the style guide of the client: - never use tabs. How much violates this?",
        "this project uses react, add a page for the settings",
        "perfect, now my laptop froze. one sec",
        "don't use the network for this test run, the vpn is down",
        "the customer says the export is too slow",
        "```\n# always use pnpm\n```\nwhat does this file do?",
        "don't write any code yet",
        "for now skip the tests",
        "make sure the export keeps the order",
        "the button should always be visible",
        "my boss says we should never deploy on fridays",
        "always use tabs. scratch that",
        "oh great, another timeout. perfect. just what I needed",
        "should we always use pnpm?",
        "Traceback (most recent call last):\nValueError: no, wrong value",
        "Here is the review:\n\nNo, don't use a global. Always inject the clock.\n",
        "Implement the spec below.\n\nNever write partial files.\nAlways validate the header.\n",
        "# Spec\n\nNever write partial files.\n\n## More\n\nAlways validate.\n",
        "add a column for the date",
        "stop",
    ],
)
def test_guards(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "kind", "vague"),
    [
        ("fix the login bug in auth.py", "fix", ""),
        ("fix it", "fix", "no-target, bare-pronoun"),
        ("make it better", "build", "no-target, bare-pronoun, no-measure"),
        ("can you explain how the cache works?", "explain", ""),
        ("write tests for the parser", "build", ""),
        ("review the last commit", "review", ""),
        ("please refactor UserService into two classes", "change", ""),
        ("let's plan the migration", "plan", ""),
        ("run pytest until the suite is green", "other", ""),
        ("hmm", "other", ""),
        ("帮我修复登录的问题", "fix", ""),
    ],
)
def test_intent_and_vagueness(text: str, kind: str, vague: str) -> None:
    found = on_signal(event=event(text)) or []
    (intent,) = [signal for signal in found if signal.kind == "intent"]
    assert (intent.text, intent.about) == (kind, vague)


def test_a_huge_prompt_is_read_to_its_limit_only() -> None:
    assert said("x " * 9_000 + "\n\nnever use npm") == []


TEXT = st.text(max_size=400) | st.lists(
    st.sampled_from(["no", ",", "yes", " ", "don't use", "B", "?", "\n", "`", '"', "always", "不"]),
    max_size=60,
).map(" ".join)  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(text=TEXT, reply=TEXT)
def test_any_text_gives_bounded_plain_signals(text: str, reply: str) -> None:
    found = list(on_signal(event=event(text, reply)) or [])
    assert found == list(on_signal(event=event(text, reply)) or [])
    assert len(found) <= 7
    for signal in found:
        assert signal.text
        assert len(signal.text) <= LONGEST
        assert "\n" not in signal.text
        assert not re.search("[\ue000-\ue002]", signal.text + signal.key) or re.search(
            "[\ue000-\ue002]", text + reply
        )


def test_importing_the_plugin_compiles_and_reads_nothing() -> None:
    code = (
        "import sys; import ijfw_plugins.signals_feedback as p;"
        "print([m for m in sys.modules if m.startswith(p.__name__ + '.') or m == 'tomllib'])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_an_approval_that_names_its_object_is_stronger_than_a_bare_one() -> None:
    named, bare = one("yes, delete the old branches"), one("lgtm")
    assert (named.signature, named.text) == ("object", "approved: delete the old branches")
    assert bare.signature == "bare"
