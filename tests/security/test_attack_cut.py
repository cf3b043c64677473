"""A secret that is cut in two before it is redacted is told by half: nothing may cut so."""

import random
import string
from typing import Any

import pytest

from ijfw_core.recall import prelude, prompt_index
from ijfw_core.synthesis import prompt as synthesis
from ijfw_core.text import CUT, cap_words
from ijfw_tests.entries import memory

LETTERS = string.ascii_uppercase + "234567"


def token(seed: int) -> str:
    """A key in a documented shape, of which no rule knows a half."""
    return "AK" + "IA" + "".join(random.Random(seed).choices(LETTERS, k=16))


@pytest.mark.parametrize("line", [prelude._line, prompt_index._line, synthesis._entry])
def test_no_half_of_a_token_is_told_of_an_entry_that_an_older_rule_let_pass(
    attack: Any, line: Any
) -> None:
    """What we wrote counts as redacted when it is read; every line is redacted again."""
    hide = attack.open().redactor.text
    secret = token(3)
    entry = memory("deploy", "deploy rule", f"of {'word ' * 40}{secret} end")
    told = [hide(str(line(entry, most))) for most in range(180, 290)]
    assert any(CUT.strip() in text for text in told)
    assert any("[REDACTED" in text for text in told)
    assert not any(secret[:7] in text for text in told)


@pytest.mark.parametrize("limit", range(1, 60))
def test_no_word_is_cut_in_two(limit: int) -> None:
    text = "say 你好世界你好世界 to abcdefghijklmnop qr"
    for in_bytes in (False, True):
        kept = cap_words(text, limit, in_bytes=in_bytes).removesuffix(CUT)
        assert text.startswith(kept)
        assert not kept or kept == text or kept[-1] >= "\u3040" or text[len(kept)] == " "
