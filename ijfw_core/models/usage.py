"""What was asked and spent: the calls of `egress.log`, added up."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ijfw_core.models import egress, spend
from ijfw_core.models.egress import Call
from ijfw_core.text import format_time

if TYPE_CHECKING:
    from ijfw_core.project import Project


class Total(msgspec.Struct, kw_only=True):
    """Calls of one day, model, project, purpose or host."""

    name: str
    calls: int = 0
    failed: int = 0  # of the calls: no answer, or none that could be used
    input: int = 0  # tokens
    output: int = 0
    bytes: int = 0  # that were sent
    dollars: float = 0.0
    unpriced: int = 0  # of the calls: their price is not known


class Usage(msgspec.Struct, kw_only=True):
    """What `ijfw usage` answers."""

    total: Total
    days: list[Total]
    models: list[Total]
    projects: list[Total]
    purposes: list[Total]
    hosts: list[Total]
    limits: Mapping[str, float]
    today: Mapping[str, float]  # tokens of this UTC day, dollars of this UTC month
    prices: str  # the date of the price table
    state: str  # "off", or whether the configured model may be asked now and why not
    waiting: int  # sessions of this project that wait for the model
    log: str


def usage(project: "Project") -> Usage:
    """All that was ever sent from this user's account, and where the budgets stand."""
    from ijfw_core.models import waiting

    home = project.roots.home
    calls = egress.read(home, everything=True)
    limits = project.config.automem
    day = format_time(project.now)[:10]
    return Usage(
        total=_add("total", calls),
        days=_by(calls, lambda call: call.at[:10]),
        models=_by(calls, lambda call: call.model),
        projects=_by(calls, lambda call: call.project),
        purposes=_by(calls, lambda call: call.purpose),
        hosts=_by(calls, lambda call: call.host),
        limits={
            "calls_per_session": limits.calls_per_session,
            "calls_per_night": limits.calls_per_night,
            "tokens_per_day": limits.tokens_per_day,
            "dollars_per_month": limits.dollars_per_month,
        },
        today={
            "tokens": sum(call.tokens for call in calls if call.at.startswith(day)),
            "dollars": _dollars(call for call in calls if call.at.startswith(day[:7])),
        },
        prices=str(spend.table()["date"]),
        state=_state(project, calls),
        waiting=len(waiting.every(project.roots)),
        log=str(Path(home) / egress.NAME),
    )


def _state(project: "Project", calls: Sequence[Call]) -> str:
    from ijfw_core.models.calls import ModelCalls
    from ijfw_core.models.probe import missing

    why = ModelCalls(project, "", "extract").refusal(calls)
    lacks = missing(project) if why is None else ""
    if lacks:
        return f"{project.config.model} is not asked: {lacks}"
    if why is None:
        return f"{project.config.model} may be asked"
    return "off" if why.topic == "off" else f"{project.config.model} is not asked: {why.message}"


def _by(calls: Iterable[Call], key: Callable[[Call], str]) -> list[Total]:
    groups: dict[str, list[Call]] = {}
    for call in calls:
        groups.setdefault(key(call), []).append(call)
    return [_add(name, group) for name, group in sorted(groups.items())]


def _add(name: str, calls: Sequence[Call]) -> Total:
    return Total(
        name=name,
        calls=len(calls),
        failed=sum(call.status in spend.BAD for call in calls),
        input=sum(call.input for call in calls),
        output=sum(call.output for call in calls),
        bytes=sum(call.bytes for call in calls),
        dollars=_dollars(calls),
        unpriced=sum(call.dollars is None for call in calls),
    )


def _dollars(calls: Iterable[Call]) -> float:
    return round(sum(call.dollars or 0.0 for call in calls), 6)
