"""What looks like an error and is none."""

from ijfw_plugins.signals_errors.commands import Command, words
from ijfw_plugins.signals_errors.tables import command_word, word

SIGINT = 130  # 128 + 2: the status of a command that a person stopped
OPENING = 4000  # characters of an output in which a refusal stands


def unwanted(output: str) -> bool:
    """A person or the platform refused it: no lesson."""
    return word("unwanted").search(output, 0, OPENING) is not None


def before_stop(output: str, exit_code: int | None) -> str | None:
    """What a command that a person stopped had shown until then; None where nobody stopped it."""
    end = word("stopped").search(output, 0, OPENING)
    if end is None and len(output) > OPENING:
        end = word("stopped").search(output, max(len(output) - OPENING, OPENING))
    if end is None and exit_code != SIGINT:
        return None
    shown = output[: end.start()] if end else output
    if "KeyboardInterrupt" in output and "Traceback (" in shown:
        shown = shown[: shown.find("Traceback (")]
    return word("stopping").sub("", shown)


def stands(command: Command, output: str) -> bool:
    """Is it the state of a unit that has not failed, whatever its journal says?"""
    return (
        "Active: " in output
        and word("unit").search(output, 0, OPENING) is not None
        and any("status" in words(stage[0]) for stage in command.stages)
    )


def timed_out(output: str) -> int:
    """Where an output goes on behind the platform's word that it waited no longer; 0 without it."""
    told = word("waited").match(output)
    return told.end() if told else 0


def only_no(command: Command, exit_code: int | None, text: str) -> bool:
    """Does a failing status only say "no", "different" or "nothing to do"?"""
    last = words(command.last)
    if word("states").match(f"{last} => {exit_code}"):
        return True
    if exit_code not in (1, None):
        return False
    if not command.stages:
        if exit_code == 1 and (word("word_only").match(text) or word("different").match(text)):
            return True
    elif command_word("answers").match(last) or (
        not text.strip()
        and any(command_word("answers").match(words(stage[-1])) for stage in command.stages)
    ):
        return True
    changes = not command.stages or last.startswith("git ")
    return changes and word("idle").search(text) is not None


def asks(command: Command) -> bool:
    """Does the command only answer a question, or wait until something answers?"""
    if not command.stages:
        return False
    if command.stages[0][0].startswith(("until ", "while ")):
        return True
    alone = len(command.stages[-1]) == 1
    return alone and command_word("answers").match(words(command.last)) is not None


def reads(command: Command) -> bool:
    """Does the command only show what stands in files, logs, histories or on the net?"""
    if not command.stages:
        return False
    return all(map(_shows, command.stages))


def job_failed(command: Command, text: str, closing: str) -> bool:
    """Is it the log of a job that failed? `closing`: the last lines of the text."""
    first = [words(stage[0]) for stage in command.stages]
    if any(map(word("failed_logs").match, first)):
        return True
    end = text if any(map(word("job_logs").match, first)) else closing
    return word("job_failed").search(end) is not None


def queries(command: Command) -> bool:
    """Does the command show what stands in a database?"""
    return bool(command.stages) and word("queries").match(words(command.stages[0][0])) is not None


def _shows(pipe: tuple[str, ...]) -> bool:
    first, *rest = pipe
    if not command_word("readers").match(words(first)) and not first.endswith((" --help", " -h")):
        return False
    return all(
        command_word("readers").match(one) or command_word("filters").match(one)
        for one in map(words, rest)
    )


def hidden(command: Command) -> bool:
    """Does the status of the command line not tell what became of one of its commands?

    That of a pipeline is that of its last command, and that of `a; b` and `a || b` is that of `b`.
    """
    telling = [one for one in command.stages if not word("setup").match(words(one[0]))]
    pipes = any(len(one) > 1 and not _shows(one) for one in telling)
    return pipes or (command.loose and bool(telling))


def zero(line: str) -> bool:
    """A count of no errors."""
    return word("zero").search(line) is not None and word("some").search(line) is None


def like_source(line: str, *, whole: bool = True) -> bool:
    """A line of program text, of a diff or of a listing; or the name of a test that passed.

    `whole`: the end of the line counts too; a rule that knows its tool needs that not.
    """
    if word("source").match(line) is not None:
        return True
    return whole and word("code_end").match(line) is not None


def like_document(text: str) -> bool:
    """Markdown or a pasted document, in which messages are quoted."""
    return word("document").search(text) is not None


def green_after(text: str, position: int) -> bool:
    """Does a tool report success after this place?"""
    return word("green").search(text, position) is not None
