"""The inbox of `ijfw memory review`: one staged memory after another, one key a decision.

On a terminal a key counts as it is pressed; elsewhere an answer is a line. A paste is no answer:
several keys at once do nothing. Everything shown is redacted and free of control characters.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import click

from ijfw_core.cli.output import say
from ijfw_core.errors import IjfwError
from ijfw_core.text import format_time, printable

if TYPE_CHECKING:
    from rich.text import Text

    from ijfw_core.project import Project
    from ijfw_core.review import Answer
    from ijfw_hookspecs import Entry

KEYS = {
    "a": "accept", "r": "reject", "e": "edit", "s": "skip", "u": "undo",
    "w": "why", "d": "diff", "q": "quit", "?": "help",
}  # fmt: skip
HELP = {
    "accept": "keep it",
    "reject": "no; its like is not proposed again",
    "edit": "change the text in your editor, then keep it",
    "skip": "decide later",
    "undo": "take the last answer back",
    "why": "what was heard, where, how sure it is, which plugin says so",
    "diff": "what accepting would change",
    "quit": "stop here; every answer so far is kept",
    "help": "this list",
}
MOST_LINES = 30  # of one text on a card; the diff shows all of it
MOST_ANSWER = 1024  # bytes of an answer that is a line
STOPPED = 130  # exit status after ctrl-C, as shells have it
_STYLES = {"+": "green", "-": "red", "@": "cyan"}


class Step(NamedTuple):
    """One staged entry that was looked at, and the answer; None where it was skipped."""

    place: int
    answer: "Answer | None"


def keys() -> Iterator[str]:
    """Keys as they are pressed, several where they came at once. Ends with ctrl-D.

    ctrl-C raises KeyboardInterrupt; the terminal is as before after every key.
    """
    while True:
        try:
            pressed = click.getchar()
        except EOFError:
            return
        yield pressed


def lines() -> Iterator[str]:
    """Answers as lines, the first letter of each; a line may say the whole word."""
    while line := sys.stdin.buffer.readline(MOST_ANSWER):
        word = line.decode("utf-8", "replace").strip().lower()
        yield next((k for k, name in KEYS.items() if word in (k, name)), "\n" if not word else "")


class Inbox:
    """Goes through what is staged.

    Args:
        project: whose memory it is.
        answers: one key an answer, "\\n" for none; its end is "quit".
        prompt: whether answers are lines, so that a prompt is shown.
    """

    def __init__(self, project: "Project", answers: Iterator[str], *, prompt: bool) -> None:
        from rich.console import Console

        from ijfw_core import review

        self.project = project
        self.answers = answers
        self.prompt = prompt
        self.console = Console(highlight=False, markup=False, emoji=False)
        self.queue = [entry.id for entry in review.staged(project)]
        self.steps: list[Step] = []
        self.place = 0
        self.pasted = False

    def run(self) -> int:
        """Ask until all is answered or the person stops; the exit status."""
        try:
            while self._one():
                pass
            status = 0
        except KeyboardInterrupt:
            self._line("\nStopped.", "yellow")
            status = STOPPED
        self._summary()
        return status

    # --- one entry ----------------------------------------------------------------------------

    def _one(self) -> bool:
        """Show the next entry and take answers until it is dealt with; False at the end."""
        if self.place >= len(self.queue):
            return self._last_chance()
        entry = self._entry()
        if entry is None:
            self._line("answered elsewhere meanwhile", "dim")
            self.place += 1
            return True
        self._card(entry)
        while True:
            name = self._ask("accept reject edit skip undo why diff quit ?")
            if name == "quit":
                return False
            if name == "undo":
                if self._undo():
                    return True
            elif name in ("why", "diff", "help"):
                {"why": self._why, "diff": self._diff, "help": self._help}[name](entry)
            elif name and self._decide(name, entry):
                self.place += 1
                return True
            elif not name and self.pasted:
                self._line("Several keys at once look like a paste: nothing was done.", "yellow")
            elif not name:
                self._help(entry)

    def _entry(self) -> "Entry | None":
        """The next entry as it is now; None where somebody else answered."""
        from ijfw_core import review

        self.project.memory.refresh()
        found = (e for e in review.staged(self.project) if e.id == self.queue[self.place])
        return next(found, None)

    def _last_chance(self) -> bool:
        """After the last entry its answer can still be taken back."""
        if not any(step.answer for step in self.steps):
            return False
        self._line("\nAll answered. u undo the last answer, any other key ends.", "bold")
        return next(self.answers, "q") == "u" and self._undo()

    def _ask(self, offer: str) -> str:
        """The name of the next answer; "" for a key that is none."""
        if self.prompt:
            click.echo(f"{offer}: ", nl=False)
        key = next(self.answers, "q")
        self.pasted = len(key) > 1 and not key.startswith("\x1b")
        return KEYS.get(key.lower(), "")

    def _decide(self, name: str, entry: "Entry") -> bool:
        """Accept, edit, reject or skip; False where it stays as it is."""
        from ijfw_core import review

        if name == "skip":
            self.steps.append(Step(self.place, None))
            self._line("skipped", "dim")
            return True
        try:
            if name == "reject":
                answer = review.reject(self.project, entry)
                self._line("rejected; its like is not proposed again", "red")
            else:
                text = self._edited(entry) if name == "edit" else None
                if name == "edit" and text is None:
                    return False
                answer = review.decide(self.project, entry, text=text)
                self._line(f"accepted as {answer.entry}", "green")
        except (IjfwError, OSError) as error:
            self._line(f"Not done, it stays staged: {error}", "yellow")
            return False
        self.steps.append(Step(self.place, answer))
        return True

    def _edited(self, entry: "Entry") -> str | None:
        """The text from the person's editor; None where there is nothing to keep."""
        from ijfw_core import review

        if review.note(entry, "proposal") in review.TEXTLESS:
            self._line("There is no text to edit; accept or reject it.", "yellow")
            return None
        try:
            text = click.edit(printable(entry.content), extension=".md")
        except click.ClickException as error:
            self._line(f"The editor did not work: {error.message}", "yellow")
            return None
        if text is None or not text.strip():
            self._line("unchanged, still staged", "dim")
            return None
        return text.strip()

    def _undo(self) -> bool:
        """Go back to the last entry, and take its answer back; False where there is none."""
        from ijfw_core import review

        if not self.steps:
            self._line("Nothing to undo yet.", "dim")
            return False
        step = self.steps[-1]
        try:
            if step.answer is not None:
                review.undo(self.project, step.answer)
        except (IjfwError, OSError) as error:
            self._line(f"Not undone: {error}", "yellow")
            return False
        self.steps.pop()
        self.place = step.place
        self._line("undone, it waits again" if step.answer else "back", "cyan")
        return True

    # --- what is shown ------------------------------------------------------------------------

    def _card(self, entry: "Entry") -> None:
        from ijfw_core import review

        old = review.current(self.project, entry)
        op = review.note(entry, "proposal") or "create"
        date = format_time(entry.stored)[:10]
        self._line("")
        head = f"[{self.place + 1}/{len(self.queue)}] {entry.kind}, {date}"
        self._line(f"{head}, sure {entry.confidence:.2f}", "bold cyan")
        if old is None:
            self._line(entry.summary, "bold")
            if entry.content != entry.summary:
                self._block(entry.content)
        else:
            self._line(f"{_WOULD.get(op, 'would change')} {old.id} ({old.origin}):", "bold")
            self._diff(entry, MOST_LINES)
        for label, text in (("Why", entry.why), ("How", entry.how_to_apply)):
            if text and old is None:
                self._block(f"{label}: {text}")
        reason = review.note(entry, "reason")
        if reason:
            self._line(f"Staged because: {reason}", "dim")
        if not self.prompt:
            self._keys()

    def _diff(self, entry: "Entry", most: int = 0) -> None:
        from ijfw_core import review

        found = review.diff(self.project, entry).rstrip("\n").split("\n")
        shown = found[:most] if most else found
        for line in shown[2:]:
            self._line(line, _STYLES.get(line[:1], ""))
        if len(found) > len(shown):
            self._line(f"... {len(found) - len(shown)} more lines: d", "dim")

    def _why(self, entry: "Entry") -> None:
        from ijfw_core import review

        found = review.why(self.project, entry)
        rows = (
            ("reason", found.reason),
            ("sure", f"{found.confidence:.2f}"),
            ("plugin", found.plugin),
            ("signals", ", ".join(tag for tag in found.tags if tag != "auto-memorize")),
            ("sessions", ", ".join(found.sessions)),
        )
        for name, value in rows:
            self._line(f"{name + ':':10}{value or '-'}")
        for line in found.heard[-10:]:
            at = format_time(line.at)[:16].replace("T", " ")
            self._line(f"  {at} {line.op} {line.confidence:.2f} {line.plugin} {line.reason}", "dim")

    def _help(self, _entry: "Entry") -> None:
        for key, name in KEYS.items():
            self._line(f"{key}  {name}: {HELP[name]}")

    def _keys(self) -> None:
        from rich.text import Text

        text, used = Text(), 0
        for key, name in KEYS.items():
            if used and used + len(name) + 2 > self.console.width:
                text.append("\n")
                used = 0
            text.append(key, "bold").append(f" {name}  ", "dim")
            used += len(name) + 4
        self._print(text)

    def _summary(self) -> None:
        verbs = Counter(step.answer.verb for step in self.steps if step.answer)
        left = len(self.queue) - sum(verbs.values())
        parts = [f"{n} {verb}" for verb, n in sorted(verbs.items())] or ["nothing answered"]
        parts.append(f"{left} left")
        self._line(f"\n{', '.join(parts)}.", "bold")
        last = next((step.answer for step in reversed(self.steps) if step.answer), None)
        if last is not None:
            say(f"Undo the last one: ijfw memory revert --run {last.run}")
        if left:
            say("Go on with: ijfw memory review")

    def _block(self, text: str) -> None:
        found = text.split("\n")
        for line in found[:MOST_LINES]:
            self._line(f"  {line}")
        if len(found) > MOST_LINES:
            self._line(f"  ... {len(found) - MOST_LINES} more lines: d", "dim")

    def _line(self, text: str, style: str = "") -> None:
        from rich.text import Text

        self._print(Text(printable(text).replace("\t", "    "), style))

    def _print(self, text: "Text") -> None:
        self.console.print(text, overflow="fold")


_WOULD = {
    "supersede": "Would replace",
    "addendum": "Would add to",
    "merge": "Would merge into another, and archive,",
    "archive": "Would archive",
    "promote": "Would promote",
    "note": "Would change",
}
