"""What doctor and status say of the model: whether one is wanted, and what keeps it from use.

The way to it is gone as in a session, up to where something would be sent: what is missing is told
by the provider's own plugin, so that nothing of any provider is known here.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from ijfw_core.errors import IjfwError
from ijfw_core.install.checks import Check, Examined, scratch
from ijfw_core.loading import config as configuration
from ijfw_core.loading.config import Config
from ijfw_core.loading.settings import Automem
from ijfw_core.models import egress, spend
from ijfw_core.models.egress import Call
from ijfw_core.models.probe import Probe
from ijfw_core.models.spend import Refusal, Wanted
from ijfw_core.storage.roots import Roots
from ijfw_core.text import format_time

SEE = "look at it: ijfw usage; once the cause is mended it is tried again by itself"


class ModelStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Where the model stands, from the settings and the log of calls alone."""

    model: str = "off"
    state: str = "off"  # "off", "may be asked" or "not asked"
    detail: str = ""
    waiting: int = 0  # sessions of this project that wait for an answer

    @property
    def waits(self) -> str:
        """The end of a line for a person: what waits."""
        some = "1 session waits" if self.waiting == 1 else f"{self.waiting} sessions wait"
        return f"; {some} for it" if self.waiting else ""


def read(home: Path, env: Mapping[str, str], here: Roots | None) -> ModelStatus:
    """Where the model stands. Asks no keyring and no plugin; raises what the log raises."""
    place = here or Roots(home, home, home / "team", home)
    config = configuration.load(place, env)
    if config.model == "off":
        return ModelStatus()
    calls, now = egress.read(home), datetime.now(UTC)
    why = _refusal(calls, config, str(place.project), now)
    parts = [_failed(calls, config.model), why.message if why else _left(calls, config, now)]
    return ModelStatus(
        model=config.model,
        state="not asked" if why else "may be asked",
        detail="; ".join(part for part in parts if part),
        waiting=_waiting(here),
    )


def model(what: Examined) -> Iterator[Check]:
    """The model that the user wants: whether its plugin, package and key are there, what it may
    still cost today, and whether it is left alone because it failed."""
    found = read(what.home, what.env, what.here)
    if found.model == "off":
        yield Check(
            name="model", ok=True, detail="off: memories are worded by rules, none is asked"
        )
        return
    with scratch(what) as project:
        probe = Probe(project, "", "extract")
        project.check_redaction()
        probe.go()
    waits = found.waits
    keys = "".join(f", {told}" for told in probe.keys)
    head = f"{found.model}{f' at {probe.host}' if probe.host else ''}{keys}"
    missing = probe.refused
    if missing is not None:
        fix = (
            f"put the key into {probe.instead} in the environment"
            if probe.instead
            else _advice(missing)
        )
        detail = f"{head}: {missing.message}{waits}"
        yield Check(name="model", ok=False, detail=detail, fix=fix)
        return
    calls = egress.read(what.home)
    since = resting_since(calls, found.model, datetime.now(UTC))
    rest = f" (since {since})" if since else ""
    detail = f"{head}: {found.detail}{rest}{waits}"
    yield Check(name="model", ok=not since, detail=detail, fix=SEE if since else "")


def resting_since(calls: Sequence[Call], name: str, now: datetime) -> str:
    """Since when the circuit breaker leaves a model alone; "" where it does not."""
    wanted = Wanted(name, "", "", "extract")
    free = Automem(tokens_per_day=10**12)
    why = spend.refusal([c for c in calls if c.model == name], free, wanted, now)
    last = [call.at for call in calls if call.model == name and call.status in spend.BAD]
    return last[-1] if why is not None and why.topic == "breaker" and last else ""


def _refusal(calls: Sequence[Call], config: Config, project: str, now: datetime) -> Refusal | None:
    wanted = Wanted(config.model, project, "", "extract")
    return spend.refusal(calls, config.automem, wanted, now)


def _failed(calls: Sequence[Call], name: str) -> str:
    """How the last call ended, where it was of no use."""
    ended = [call for call in calls if call.model == name and call.status != "sent"]
    if not ended or ended[-1].status not in spend.BAD:
        return ""
    return f"the last call was {WORDS[ended[-1].status]} at {ended[-1].at}"


WORDS = {
    "rejected": "answered with nothing that holds",
    "failed": "refused or not answered",
    "timeout": "not answered in time",
}


def _left(calls: Sequence[Call], config: Config, now: datetime) -> str:
    limits = config.automem
    day = format_time(now)[:10]
    used = sum(call.tokens for call in calls if call.at.startswith(day))
    left = (
        f"{max(0, limits.tokens_per_day - used):,} of {limits.tokens_per_day:,} tokens left today"
    )
    if limits.dollars_per_month:
        spent = sum(call.dollars or 0.0 for call in calls if call.at.startswith(day[:7]))
        left += f", ${spent:.2f} of ${limits.dollars_per_month:.2f} spent this month"
    return left


def _waiting(here: Roots | None) -> int:
    if here is None:
        return 0
    from ijfw_core.models import waiting

    try:
        return len(waiting.every(here))
    except (OSError, IjfwError):
        return 0


def _advice(missing: Refusal) -> str:
    """The command in a provider's message, or where to look."""
    text = missing.message
    if "pip install" in text:
        return text[text.index("pip install") :]
    command = re.search(r"`([^`]+)`", text)
    return command[1] if command else "look at it: ijfw config show, ijfw plugins list"
