"""What looks like an error and is none."""

import re

from ijfw_plugins.signals_errors.commands import Command, words

# Exit 1 of these says "no" or "different"; the sources are their manual pages.
_NO = re.compile(
    r"(?:grep|egrep|fgrep|zgrep|rg|ag|ack|pgrep|pidof|diff|colordiff|cmp|test|\[|\[\[|which|type|command -[vV]|hash|expr|let|"
    r"git (?:-\S+ \S+ )?(?:diff|grep|merge-base|show-ref|check-ignore|rev-parse (?:.*)(?:-q|--quiet)|config(?: --\S+)* [\w.]+$)|"
    r"jq\b.* (?:-e|--exit-status)|jq (?:-e|--exit-status)|npm outdated|pnpm outdated|yarn outdated|kill -0|lsof|fuser|"
    r"systemctl(?: --\S+)* is-\w+|mountpoint|getent|false|read|comm|bc|dpkg -s|rpm -q|brew list|pip show|xargs grep|"
    r"find .* -exec grep|docker inspect|test)(?:\s|$)"
)
_CHANGES = re.compile(
    r"(?:terraform|tofu) plan\b.*-detailed-exitcode|systemctl(?: --\S+)* (?:is-\w+|status)\b|kubectl diff|pulumi preview"
)
# These print what other files say.
_READER = re.compile(
    r"(?:cat|bat|head|tail|less|more|sed|awk|gawk|grep|egrep|fgrep|zgrep|zcat|rg|ag|ack|find|fd|ls|ll|tree|nl|cut|sort|uniq|wc|tac|"
    r"strings|xxd|hexdump|od|echo|printf|jq|yq|column|fold|diff|cmp|stat|file|du|df|env|printenv|history|man|tldr|pwd|which|"
    r"git (?:-\S+ \S+ )?(?:log|show|diff|blame|grep|status|branch|stash list|reflog|shortlog|cat-file|ls-files|tag)|"
    r"gh (?:run view|issue|pr (?:view|diff|list|checks)|api|search)|glab|docker (?:compose )?logs|docker-compose logs|podman logs|"
    r"kubectl (?:\S+ )*?(?:logs|describe)|journalctl|dmesg|curl|wget|http|aws logs|heroku logs|fly logs|pbpaste|"
    r"read|export|set|sleep|cd|pushd|popd|mkdir|true|date|ps|top|sqlite3 .*select|ijfw)(?:\s|$)"
)
_HELP = re.compile(r"(?:\s(?:--help|-h)\b|\bhelp\b)")
_NOT_WANTED = re.compile(
    r"The user doesn.t want to (?:proceed|take this action)|\[?Request interrupted|[Ii]nterrupted by user|"
    r"Command (?:was )?(?:aborted|timed out after|cancelled)|tool use was rejected|aborted by user|user rejected|"
    r"<tool_use_error>|(?:has been denied|haven.t granted|requested permissions|Permission to use \w+)|<status>killed</status>|"
    r"hook (?:blocked|error)|Cancelled: parallel tool call"
)
_NO_CHANGE = re.compile(
    r"nothing (?:added )?to commit|no changes added to commit|Everything up-to-date|Already up to date"
)
_DIFFERENT = re.compile(
    r"(?:\d+(?:,\d+)?[acd]\d+(?:,\d+)?$|diff --|--- \S|Only in |Files .+ differ$|Binary files .+ differ$|.+ differ: (?:byte|char) \d)",
    re.MULTILINE,
)
_WORD_ONLY = re.compile(
    r"\s*(?:0|false|null|no|inactive|disabled|unknown|dead|masked|activating|not running)?\s*$"
)
_ZERO = re.compile(
    r"\b(?:0|no|zero) (?:\w+ )?(?:errors?|failures?|failed|problems?|issues?|exceptions?)\b|"
    r"\b(?:errors?|failures?|failed|exceptions?)\b[\"']?\s*[:=|]\s*[\"']?0+(?:\.0*)?(?![\d.])",
    re.IGNORECASE,
)
_NONZERO = re.compile(
    r"\b[1-9]\d* (?:\w+ )?(?:errors?|failures?|failed|problems?)\b|\b(?:errors?|failures?|failed)\s*[:=]\s*[1-9]",
    re.IGNORECASE,
)
_SOURCE = re.compile(
    r"\s*(?:raise|throw|except|catch|return|import|from \S+ import|def|class|fn|func|function|const|let|var|if|elif|else|case|"
    r"assert|print|console|logger|log|logging|public|private|static|async|await|export|panic!|try)\b[^:]*[({;=.'\"`]|"
    r"\s*(?://|/\*|\*/|\"\"\"|'''|<!--|>>> |`|\d+[→\t]|[+-]\s*(?:raise|throw|error|Error|Traceback)|.*(?:[{;(]|=>)$)|"
    r"[^\s:]+\.\w+:\d+:\s{0,40}(?:raise|throw|except|catch|return|import|def|class|fn|func|function|const|let|var|if|//|#|\")"
)
_PASSED_NAME = re.compile(r"\s*(?:✓|✔|√|PASS\b|ok \d|\[ +OK)|.*(?:\.\.\. ok|\bPASSED|: ok)\b")
_PROSE = re.compile(r"(?m)^(?:```|\|[ :-]*-{3}|#{2,6} \w|> \w)")
_GREEN = re.compile(
    r"(?m)^(?:=+ )?\d+ passed(?!.*\b(?:failed|errors?)\b).*|^\s*Tests:? +(?!.*failed).*\bpassed.*|^.*\bBUILD SUCCESS(?:FUL)?\b|"
    r"^test result: ok\b.*|^OK(?: \(.*\))?$|^PASS$|^ok  \t|^Success: no issues|^All checks passed|^\s*\d+ passing\b|^\d+ examples?, 0 failures"
)


def unwanted(output: str, exit_code: int | None) -> bool:
    """A person or the platform stopped it, or refused it: no lesson."""
    return exit_code == 130 or _NOT_WANTED.search(output[:4000]) is not None


def only_no(command: Command, exit_code: int | None, text: str) -> bool:
    """Does a failing status only say "no", "different" or "nothing to do"?"""
    if exit_code not in (1, None) and not (
        exit_code in (2, 3, 4) and _CHANGES.match(words(command.last))
    ):
        return False
    if command.stages:
        last = words(command.last)
        if _NO.match(last) or _CHANGES.search(last):
            return True
    elif exit_code == 1 and (_WORD_ONLY.match(text) or _DIFFERENT.match(text)):
        return True
    return _NO_CHANGE.search(text) is not None


def reads(command: Command) -> bool:
    """Does the command only show what stands in files, logs, histories or on the net?"""
    if not command.stages:
        return False
    return all(_READER.match(words(stage[0])) or _HELP.search(stage[0]) for stage in command.stages)


def zero(line: str) -> bool:
    """A count of no errors."""
    return _ZERO.search(line) is not None and _NONZERO.search(line) is None


def like_source(line: str) -> bool:
    """A line of program text, of a diff or of a listing; or the name of a test that passed."""
    return _SOURCE.match(line) is not None or _PASSED_NAME.match(line) is not None


def like_document(text: str) -> bool:
    """Markdown or a pasted document, in which messages are quoted."""
    return _PROSE.search(text) is not None


def green_after(text: str, position: int) -> bool:
    """Does a tool report success after this place?"""
    return _GREEN.search(text, position) is not None
