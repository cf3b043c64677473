"""How often each family of evidence was right, in the open parts of every labelled set.

These counts are what `score_evidence` bounds the confidence by.
"""

import tomllib
from collections import defaultdict
from collections.abc import Iterator

from ijfw_plugins.signals_feedback.weighing import WEIGHED
from ijfw_tests.judge.feedback import LASTING, judge_cases, kinds, said
from ijfw_tests.judge.sets import TESTS, Case, is_closed, lines

SHORT = "short"  # a list of single messages
# Most rules of these families were written for one or two texts of that list or of these sets.
LISTED = frozenset({"shape", "wish"})
WRITTEN_FOR = (SHORT, LASTING)


def open_cases() -> Iterator[Case]:
    """Labelled messages of open parts, each with a `name`, `labels` and what it `holds`."""
    yield from (case for case in judge_cases() if not is_closed(case["name"]))
    for case in lines("feedback/cases.jsonl"):
        if case["split"] == "tune":
            says = [case["says"]] if "says" in case else []
            yield case | {"name": f"own-{case['id']}", "holds": says}
    short = tomllib.loads((TESTS / "feedback" / "short.toml").read_text(encoding="utf-8"))
    for label, texts in short.items():
        for number, text in enumerate(texts):
            name = f"{SHORT}-{label}-{number}"
            yield {"name": name, "text": text, "labels": [label], "holds": []}
    quiet = tomllib.loads((TESTS / "feedback" / "requirements.toml").read_text(encoding="utf-8"))
    for number, text in enumerate(quiet["quiet"]):
        yield {"name": f"quiet-{number}", "text": text, "labels": ["none"], "holds": []}


def counts() -> dict[str, tuple[int, int]]:
    """By family, how many statements were right and useful, and how many there are.

    Right is one of the kind that a person gave the message; useful is one with the words that it
    has to hold. What corrects the agent and lasts may be called a correction or a rule.
    """
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for case in open_cases():
        want = kinds(set(case["labels"]))
        for signal in said(case):
            _, _, family = signal.signature.partition(":")
            listed = case["name"].startswith(WRITTEN_FOR) and bool(want)
            if family in {"", WEIGHED} or (family in LISTED and listed):  # fitted on these messages
                continue
            text = signal.text.lower()
            holds = all(word.lower() in text for word in case["holds"])
            got = kinds({signal.kind})
            lasting = bool(want & {"correction", "standing"}) and got != {"decision"}
            found[family].append(holds and bool(want) and (lasting or got <= want))
    return {family: (sum(right), len(right)) for family, right in sorted(found.items())}
