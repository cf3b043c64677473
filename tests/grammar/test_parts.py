"""Parts of other entries can be put into a content and taken out again."""

from hypothesis import given
from hypothesis import strategies as st

from ijfw_core.grammar import parts

TEXTS = st.lists(
    st.sampled_from(
        ["a", "\n", "<!-- ijfw addendum id=x -->", "<!-- /ijfw addendum id=x -->", "\\"]
    )
).map("".join)
IDS = st.sampled_from(["x", "xx", "h-0123456789", "a.*b"])


@given(TEXTS, IDS, TEXTS)
def test_a_part_goes_in_once_and_comes_out(content: str, name: str, text: str) -> None:
    content = content.replace("ijfw", "other")
    whole = parts.add(content, name, "Title", text, "at=now")
    assert whole.startswith(content)
    assert parts.add(whole, name, "Title", "another text") == whole
    assert parts.drop(whole, name) == content
    assert parts.drop(whole, "unknown") == whole


def test_two_parts_are_apart() -> None:
    whole = parts.add(parts.add("text", "x", "One", "first"), "xx", "Two", "second")
    assert "first" not in parts.drop(whole, "x")
    assert "second" in parts.drop(whole, "x")


def test_a_reader_sees_no_marks_and_nothing_that_a_merge_took_over() -> None:
    whole = parts.add("text", "x", "Addendum", "more", "at=now")
    whole = parts.add(whole, "y", "Historical", f"old\n{whole}", "at=now kind=historical")
    told = parts.plain(parts.add(whole, "z", "Addendum", "last"))
    assert "<!--" not in told
    assert "old" not in told
    assert [word for word in told.split() if word in ("text", "more", "last")] == [
        "text",
        "more",
        "last",
    ]
    assert parts.plain("<!-- mine -->\n\n") == "<!-- mine -->\n\n"
