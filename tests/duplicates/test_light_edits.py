"""Every light edit of a note is a duplicate of it, and one changed fact never is."""

import re
from collections.abc import Callable

import pytest

from ijfw_core.compare import compare

NOTES = (
    "The staging database is restored from the nightly snapshot every Monday.",
    "Run `make check` before you push to the release branch.",
    "Uploads larger than 25 MB are rejected by the gateway.",
    "Never commit generated files under `dist/`.",
    "The worker reads its settings from config/worker.toml at start.",
    "Use pnpm 9.1, never npm, in this repository.",
    "Feature flags live in src/flags/registry.ts and are typed.",
    "API tokens expire after 90 days.",
    "The user prefers short commit messages without a scope.",
    "`parse_range()` returns None for an empty header.",
    "Integration tests need Docker and about 4 minutes.",
    "Anna reviews all changes to the billing module.",
    "Dates are stored in UTC and shown in the time zone of the customer.",
    "Retries use exponential backoff with at most 5 attempts.",
    "We chose SQLite over Postgres because the tool runs on one machine.",
    "Do not mock the clock; pass `now` as an argument.",
    "The release script must be run from a clean checkout.",
    "Error messages say what happened and what to do next.",
    "Die Rechnungen werden nachts um 2 Uhr erzeugt.",
    "Der Dienst liest die Konfiguration aus /etc/abrechnung.yaml.",
    "Bitte keine neuen Abhängigkeiten ohne Absprache einbauen.",
    "Las pruebas de integración necesitan la variable DATABASE_URL.",
    "El despliegue a producción se hace los martes a las 10.",
    "Les journaux sont conservés pendant 30 jours.",
    "La branche principale est protégée contre les poussées directes.",
    "I test di carico girano solo nell'ambiente di staging.",
    "Relatórios são gerados em formato PDF.",
    "部署之前必须运行数据库迁移。",
    "日志保留 30 天。",
    "キャッシュの有効期限は 15 分です。",
)
Edit = Callable[[str], str]


def _low(text: str) -> str:
    return text[:1].lower() + text[1:]


def _end(text: str) -> str:
    return text.rstrip(".。")


def _plain_case(text: str, made: str) -> str:
    """A text in another case, where no name, path or code would change with it."""
    return text if re.search(r"[`/_]|[A-Z]{2}|[^\x00-\x7f]", text) else made


def _slipped(slip: Callable[[str], str]) -> Edit:
    """The first long word outside of code and paths with a slip."""
    word = re.compile(r"(?<![\w./_`-])[a-zäöüéáíó]{7,}(?![\w/_`-]|\.\w)")
    return lambda text: word.sub(lambda m: slip(m.group()), text, count=1)


AROUND = (
    "{}", "**{}**", "*{}*", "- {}", "* [x] {}", "3. {}", "> {}", "## {}", '"{}"', "“{}”", "„{}“",
    "« {} »", "'{}'", "「{}」", "({})", "<b>{}</b>", "{}  \n", "{}\r\n", "\ufeff{}", "⚠️ {}",
    "{} ✅",
    "[2026-03-04] {}", "2026-03-04 10:11 - {}", "2026-03-04T10:11:12Z: {}", "**2026-03-04**: {}",
    "2026/03/04 {}", "04.03.2026: {}", "Mar 4, 2026: {}", "4 March 2026 - {}", "(4 Mar 2026) {}",
    "{} (2026-03-04)", "{} [2026-03-04]", "{} — 2026-03-04", "{} (noted 2026-03-04)",
    "Note: {}", "**Decision:** {}", "Please remember: {}", "Remember that {}", "Note that {}",
    "Please note that {}", "Keep in mind: {}", "IMPORTANT: {}", "Reminder - {}", "[note] {}",
    "(decision) {}", "- **Rule:** {}", "Hinweis: {}", "Wichtig: {}", "Nota: {}", "Rappel: {}",
    "注意：{}",
    "{} (per Sam)", "{} (#123)", "[OPS-77] {}", "{} #style", "[naming] {}", "**Testing:** {}",
    "The user said that {}", "According to Mira, {}", "User: {}", "Feb 2026: {}", "<p>{}</p>",
    "Heads-up: {}", "{} (updated 2026-03-04)", "{} (2026-03-04, Mira)", "BTW, {}", ":warning: {}",
)  # fmt: skip
INSIDE: dict[str, Edit] = {
    "no full stop": _end,
    "exclamation": lambda text: _end(text) + "!",
    "small first letter": _low,
    "title case": lambda text: _plain_case(text, text.title()),
    "upper case": lambda text: _plain_case(text, text.upper()),
    "double spaces": lambda text: text.replace(" ", "  "),
    "hard spaces": lambda text: text.replace(" ", "\u00a0"),
    "wrapped": lambda text: re.sub(r" (\S+)$", r"\n\1", text),
    "hidden sign": lambda text: text[:4] + "\u200b" + text[4:],
    "bold inside": lambda text: re.sub(r"^(\w+) (\w+)", r"\1 **\2**", text),
    "without backticks": lambda text: text.replace("`", ""),
    "quoted code": lambda text: text.replace("`", '"'),
    "two backticks": lambda text: text.replace("`", "``"),
    "path as code": lambda text: re.sub(r"(?<= )(/?\w+(?:/\w+)+\.\w+)", r"`\1`", text),
    "name as code": lambda text: re.sub(r"\b([A-Z]{3,}_[A-Z]+|SQLite|UTC|PDF)\b", r"`\1`", text),
    "please": lambda text: re.sub(r"^(Run|Use|Never|Do)\b", lambda m: "Please " + _low(m[0]), text),
    "an article less": lambda text: re.sub(
        r"\b(?:[Tt]he|[Dd]ie|[Dd]er|[Ll]as|[Ee]l|[Ll]es|[Ll]a|an) (?=\w)", "", text, count=1
    ),
    "our": lambda text: re.sub(r"^The ", "Our ", text),
    "contraction": lambda text: text.replace("Do not", "Don’t"),
    "also": lambda text: re.sub(r" (is|are|must) ", r" \1 also ", text, count=1),
    "unit without space": lambda text: re.sub(r"(\d) (MB|天|分)", r"\1\2", text),
    "number as word": lambda text: text.replace(" 5 ", " five ").replace(" 4 ", " four "),
    "letters swapped": _slipped(lambda w: w[:3] + w[4] + w[3] + w[5:] if w[3] != w[4] else w),
    "letter doubled": _slipped(lambda w: w[:3] + w[2] + w[3:]),
    "always": lambda text: re.sub(r"^(Run|Use)\b", lambda m: "Always " + _low(m[0]), text),
    "the project uses": lambda text: re.sub(r"^Use\b", "The project uses", text),
    "prefers": lambda text: text.replace("The user prefers", "Prefers"),
    "has to": lambda text: text.replace("must be", "has to be"),
    "unit in full": lambda text: text.replace(" MB", " megabytes"),
    "ampersand": lambda text: text.replace(" and ", " & "),
    "code tags": lambda text: re.sub(r"`([^`]+)`", r"<code>\1</code>", text),
    "letter lost": _slipped(lambda w: w[:3] + w[4:] if len(w) > 8 else w),
    "dash for comma": lambda text: text.replace(", ", " — "),
    "sentence for semicolon": lambda text: text.replace("; p", ". P"),
    "ascii full stop": lambda text: text.replace("。", "."),
}
EDITS: dict[str, Edit] = {form: form.format for form in AROUND} | INSIDE


@pytest.mark.parametrize("kind", EDITS)
def test_a_light_edit_is_a_duplicate(kind: str) -> None:
    edits = [(text, EDITS[kind](text)) for text in NOTES]
    assert kind == "{}" or any(text != edited for text, edited in edits)
    answers = [(x, y, compare(x, y)) for a, b in edits for x, y in ((a, b), (b, a))]
    assert [answer for answer in answers if answer[2].verdict != "duplicate"] == []


_DENIED = {
    "is ": "is not ", "are ": "are not ", "must ": "must not ", "Never commit": "Commit",
    "never npm": "npm", "Do not mock": "Mock", "need ": "do not need ", "reads": "never reads",
    "prefers": "does not prefer", "returns": "never returns", "expire": "never expire",
    "reviews": "does not review", "chose": "did not choose", "say ": "never say ",
    "Run ": "Never run ", "Use ": "Do not use ", "werden ": "werden nicht ", "keine": "die",
    "liest ": "liest nicht ", "necesitan": "no necesitan", "se hace": "no se hace",
    "sont ": "ne sont pas ", "est ": "n'est pas ", "girano solo": "non girano",
    "são ": "não são ", "必须": "不能", "保留": "不保留", "です": "ではない",
}  # fmt: skip
_NAMED = {
    "Anna": "Hanna", "SQLite": "MySQL", "Docker": "Podman", "UTC": "CET", "PDF": "CSV",
    "pnpm": "yarn", "DATABASE_URL": "DATABASE_URI", "Monday": "Sunday", "martes": "jueves",
    "staging": "testing", "release": "stable", "billing": "mailing", "worker.toml": "workers.toml",
    "registry.ts": "register.ts", "/etc/abrechnung": "/etc/rechnung", "`dist/`": "`build/`",
    "`now`": "`today`", "parse_range": "parse_ranges", "make check": "make checks",
    "header": "body", "Error": "Log", "日志": "备份", "キャッシュ": "トークン",
    "journaux": "jetons",
}  # fmt: skip
_MEANT = {
    "MB": "GB", "90 days": "90 hours", "minutes": "hours", "jours": "semaines", "天": "周",
    "at most": "at least", "before": "after", "larger": "smaller", "nightly": "weekly",
    " and ": " or ", "without": "with", " all ": " most ", "None": "True", "之前": "之后",
    "branche principale": "branche secondaire", "Rechnungen": "Mahnungen", "short": "long",
}  # fmt: skip


def changes(text: str) -> list[str]:
    """A note with one fact changed, in every way that fits it."""
    number = re.search(r"\d+", text)
    found = [
        text.replace(old, new, 1)
        for table in (_DENIED, _NAMED, _MEANT)
        for old, new in table.items()
        if old in text
    ]
    if number:
        others = str(int(number[0]) + 1), number[0] + "0"
        found += [text[: number.start()] + other + text[number.end() :] for other in others]
    found.append(_end(text) + ", except in the demo.")
    found.append(_end(text) + " if asked.")
    found.append(re.sub(r"^(The|API|Error|Feature) ", lambda m: f"Only {_low(m[0])}", text))
    return [changed for changed in found if changed != text]


@pytest.mark.parametrize("text", NOTES)
def test_one_changed_fact_is_never_a_duplicate(text: str) -> None:
    assert len(changes(text)) > 2
    for changed in changes(text):
        for edited in (changed, f"**{changed}**", f"[2026-03-04] {_end(changed)}"):
            assert compare(text, edited).verdict != "duplicate", edited
            assert compare(edited, text).verdict != "duplicate", edited


REORDERED = (
    ("Use pnpm, never npm, in this repo.", "In this repo use pnpm and never npm."),
    ("Run migrations before every deployment.", "Before every deployment, run migrations."),
    ("If the build fails, page the manager.", "Page the manager if the build fails."),
    ("Use tabs, not spaces.", "Not spaces, use tabs."),
    ("In CI, tests run with xdist.", "Tests run with xdist in CI."),
    ("Never push to main; open a pull request.", "Open a pull request; never push to main."),
    ("As the API is slow, answers are kept 9 min.", "Answers are kept 9 min as the API is slow."),
    ("Use ruff and mypy.", "Use ruff, and mypy."),
)
EXCHANGED = (
    ("Use sqlite in tests, postgres in prod.", "Use postgres in tests, sqlite in prod."),
    ("Lint, then test.", "Test, then lint."),
    ("Lint the code, test the code.", "Test the code, lint the code."),
    ("Steps: build, test, deploy.", "Steps: test, build, deploy."),
    ("Copy from staging to prod.", "Copy from prod to staging."),
    ("If A fails, restart B.", "If B fails, restart A."),
    ("Only deploy on Fridays.", "On Fridays only deploy."),
    ("Lint in CI and test in prod.", "In prod lint in CI and test."),
    ("Use click, not argparse.", "Use argparse, not click."),
    ("Before lint run the tests.", "Run lint before the tests."),
    ("2026-05-01 is the freeze date.", "2026-06-01 is the freeze date."),
    ("2026-05-01-backup is kept.", "2026-06-01-backup is kept."),
    ("The freeze starts on 4 May 2026.", "The freeze starts on 5 May 2026."),
    ("The freeze starts (4 May 2026).", "The freeze starts (5 May 2026)."),
    ("Use DES encryption.", "Use encryption."),
    ("Use <b> tags for names.", "Use <i> tags for names."),
    ("Run `just test`.", "Run `test`."),
    ("Data stays in the US.", "Data stays in the EU."),
)


@pytest.mark.parametrize("pair", REORDERED, ids=[a for a, _ in REORDERED])
def test_the_same_parts_in_another_order_are_a_duplicate(pair: tuple[str, str]) -> None:
    assert compare(*pair).verdict == "duplicate"
    assert compare(*reversed(pair)).verdict == "duplicate"


@pytest.mark.parametrize("pair", EXCHANGED, ids=[a for a, _ in EXCHANGED])
def test_the_same_words_that_say_something_else_are_none(pair: tuple[str, str]) -> None:
    assert compare(*pair).verdict != "duplicate"
    assert compare(*reversed(pair)).verdict != "duplicate"
