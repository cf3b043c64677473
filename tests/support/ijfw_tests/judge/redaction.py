"""Redaction: secrets that survive, harmless texts that are touched, pieces that must stay."""

import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from ijfw_core.pipeline.redaction import Redactor
from ijfw_hookspecs import Context, Span
from ijfw_plugins import redact_known_values, redact_pii, redact_secrets
from ijfw_tests.judge.sets import Case, parts, toml
from ijfw_tests.judge.shapes import fill
from ijfw_tests.judge.table import Row, excess, share
from ijfw_tests.secrets.cases import generate
from ijfw_tests.secrets.values import leaks

STAGE = "redaction"
# What the closed thirds of two sets, and the whole of later ones, gave when they were opened, once:
# figures of unseen texts. Rules were then made for what they showed; since then they are judged
# with the others.
OPENED = {
    "sixth": {
        "case recall": (199, 0.9547),
        "harmless touched": (110, 0.0091),
        "must keep": (257, 0.9961),
        "prefix tokens": (52, 1.0),
    },
    "seventh": {
        "case recall": (228, 0.9692),
        "harmless touched": (134, 0.0075),
        "must keep": (277, 1.0),
        "prefix tokens": (73, 0.9863),
    },
    "eighth": {
        "case recall": (332, 1.0),
        "harmless touched": (217, 0.0046),
        "must keep": (432, 1.0),
        "prefix tokens": (126, 1.0),
    },
    "ninth": {
        "case recall": (415, 0.9518),
        "harmless touched": (289, 0.0243),
        "must keep": (490, 0.9979),
        "prefix tokens": (48, 1.0),
    },
    "tenth": {
        "case recall": (230, 0.9434),
        "harmless touched": (201, 0.01),
        "must keep": (357, 1.0),
        "prefix tokens": (46, 1.0),
    },
    "eleventh": {
        "case recall": (263, 1.0),
        "harmless touched": (250, 0.0),
        "must keep": (436, 1.0),
        "prefix tokens": (67, 1.0),
    },
}
CONTEXT = Context(project="", session="s", now=datetime.now(UTC), memory=None)  # type: ignore[arg-type]


class _Ours:
    """The three redactors of this repository, without the rest of the program."""

    def redact(self, text: str, context: Context) -> Sequence[Span]:
        found: list[Span] = []
        for plugin in (redact_secrets, redact_known_values, redact_pii):
            found += plugin.redact(text, context)
        return found


def redactor() -> Callable[[str], str]:
    """Text to text, with all redactors of this repository."""
    return Redactor(_Ours(), CONTEXT).text


def judge_cases(seed: str = "1") -> list[Case]:
    """The judge's cases with their values made from `seed`."""
    found: list[Case] = []
    for part in (
        "tokens",
        "structures",
        "pairs",
        "second",
        "third",
        "fourth",
        "fourth_tokens",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "eleventh",
    ):
        for number, case in enumerate(_templates(part)):
            template = case["text"]
            if case.get("unescape"):
                template = template.replace("\\u001b", "\x1b")
            text, secrets = fill(template, f"{seed}:{part}:{number}")
            name = f"{part}-{number}-{case['kind']}"
            found.append(case | {"name": name, "text": text, "secrets": secrets})
    for part in (
        "harmless",
        "harmless_second",
        "harmless_fourth",
        "harmless_fifth",
        "harmless_sixth",
        "harmless_seventh",
        "harmless_eighth",
        "harmless_ninth",
        "harmless_tenth",
        "harmless_eleventh",
    ):
        for kind, group in toml(f"redaction_{part}").items():
            for number, template in enumerate(group["texts"]):
                text, _ = fill(template, f"{seed}:{kind}:{number}")
                name = f"{part}-{kind}-{number}"
                found.append({"name": name, "kind": kind, "text": text, "secrets": [], "keep": []})
    return found


def _templates(part: str) -> list[Case]:
    """The cases of a set as they are written, or each token of it in two surroundings."""
    written = toml(f"redaction_{part}")
    if "case" in written:
        return list(written["case"])
    found: list[Case] = []
    for token in written["tokens"]:
        kind, name, shape = token.split(" | ")
        rng = random.Random(f"surroundings:{kind}")
        kind = kind if kind.startswith("weak-") else f"token-{kind}"
        for context in rng.sample(written["contexts"], 2):
            text = context.replace("{N}", name).replace("{n}", name.lower()).replace("{V}", shape)
            found.append({"kind": kind, "text": text, "keep": []})
    return found


def own_cases(part: str) -> list[Case]:
    """The cases that the redactors' tests generate."""
    return [
        {"name": case.id, "kind": case.id.partition("-")[0], "text": case.text}
        | {"secrets": case.secrets, "keep": () if case.id.startswith("harmless") else case.keep}
        for case in generate(part)
    ]


def rows(shown: list[str]) -> list[Row]:
    """The figures of every set; what was missed in the open part is added to `shown`."""
    redact, found = redactor(), []
    for name, cases in parts(judge_cases("1")):
        found += _rows(name, cases, redact, shown if "open" in name else [])
    for name, cases in parts(judge_cases("2")):
        found += _rows(f"{name}, other values", cases, redact, [])
    for part, figures in OPENED.items():
        found += [
            Row(STAGE, f"{part}, when opened", size, measure, figure)
            for measure, (size, figure) in figures.items()
        ]
    for part in ("open", "closed"):
        found += _rows(f"own, {part}", own_cases(part), redact, [])
    return found


def _rows(
    name: str, cases: list[Case], redact: Callable[[str], str], shown: list[str]
) -> list[Row]:
    results = [(case, redact(case["text"])) for case in cases]
    harmless = [x for x in results if x[0]["kind"].startswith(("neg", "harmless"))]
    secret = [x for x in results if x not in harmless]
    missed = [
        (case, out)
        for case, out in secret
        if out == case["text"] or any(leaks(s, out) for s in case["secrets"])
    ]
    touched = [(case, out) for case, out in harmless if out != case["text"]]
    lost = [(case, k) for case, out in secret for k in case["keep"] if k not in out]
    keeps = sum(len(case["keep"]) for case, _ in secret)
    unstable = sum(redact(out) != out for _, out in results)
    objects = [(case, out) for case, out in results if _is_json(case["text"])]
    broken = sum(not _is_json(out) for _, out in objects)
    shown += [f"redaction missed {case['name']}: {out!r}" for case, out in missed]
    shown += [f"redaction touched {case['name']}: {out!r}" for case, out in touched]
    shown += [f"redaction lost {case['name']}: {piece!r}" for case, piece in lost]
    found = [
        Row(STAGE, name, len(secret), "case recall", share(len(secret) - len(missed), len(secret)),
            low=0.99, others="0.846 (CredSweeper; 23 % touched)"),
        Row(STAGE, name, len(harmless), "harmless touched", excess(len(touched), len(harmless)),
            high=0.005, others="0.007 (kingfisher; recall 0.52)"),
        Row(STAGE, name, keeps, "must keep", share(keeps - len(lost), keeps),
            low=0.998, others="1.000 (gitleaks rules; recall 0.62)"),
        Row(STAGE, name, len(results), "not idempotent", float(unstable), high=0),
        Row(STAGE, name, len(objects), "JSON broken", float(broken), high=0),
    ]  # fmt: skip
    tokens = [x for x in secret if x[0]["kind"].startswith("token")]
    if tokens:
        leaked = sum(x in missed for x in tokens)
        figure = share(len(tokens) - leaked, len(tokens))
        found.append(Row(STAGE, name, len(tokens), "prefix tokens", figure, low=1.0,
                         others="0.97 (CredSweeper)"))  # fmt: skip
    return found


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict | list)
    except ValueError:
        return False
