"""What a call costs, and whether one more may be made: prices, budgets, the circuit breaker.

Pure functions over the calls of `egress`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ijfw_core.loading.settings import Automem
from ijfw_core.models.egress import Call
from ijfw_core.text import format_time

TRIES = 3  # of one session, failed ones included
TRIPS = 3  # failures in a row after which a model is left alone
REST = timedelta(minutes=30)  # the first time; doubled with each further failure
LONGEST_REST = timedelta(hours=24)
BAD = frozenset({"rejected", "failed", "timeout"})
BYTES_A_TOKEN = 3  # on the safe side: English has about 4, code and other scripts fewer

Price = tuple[float, float]  # dollars a million tokens in, out


class Refusal(NamedTuple):
    """Why a model is not asked now."""

    topic: str
    message: str
    waits: bool = True  # whether what was heard is kept for another try


class Wanted(NamedTuple):
    """A call that somebody wants to make."""

    model: str
    project: str
    session: str
    purpose: str
    tokens: int = 0  # that it may take, as far as is known


@cache
def table() -> Mapping[str, Any]:
    """The prices that ship with IJFW, with their date and source."""
    import tomllib

    return tomllib.loads(Path(__file__).with_name("prices.toml").read_text("utf-8"))


def price(model: str, own: Mapping[str, Price]) -> Price | None:
    """Dollars a million tokens in and out; None where nobody says. The user's prices come first."""
    for prices in (own, table()["prices"]):
        fitting = [
            name
            for name in prices
            if name == model or (name.endswith("*") and model.startswith(name[:-1]))
        ]
        if fitting:
            low, high = prices[max(fitting, key=lambda name: (name == model, len(name)))]
            return float(low), float(high)
    return None


def cost(rate: Price | None, tokens_in: int, tokens_out: int) -> float | None:
    """Dollars for so many tokens; None where the price is not known."""
    if rate is None:
        return None
    return round((tokens_in * rate[0] + tokens_out * rate[1]) / 1e6, 6)


def estimate(size: int) -> int:
    """Tokens of so many bytes, on the safe side."""
    return -(-size // BYTES_A_TOKEN)


def refusal(
    calls: Sequence[Call], limits: Automem, wanted: Wanted, now: datetime
) -> Refusal | None:
    """Why this call may not be made now; None where it may."""
    return (
        _per_session(calls, limits, wanted)
        if wanted.purpose == "extract"
        else _per_night(calls, limits, wanted, now)
    ) or (_tokens(calls, limits, wanted, now) or _dollars(calls, limits, wanted, now)
          or _broken(calls, wanted.model, now))  # fmt: skip


def _per_session(calls: Sequence[Call], limits: Automem, wanted: Wanted) -> Refusal | None:
    mine = [
        call
        for call in calls
        if (call.project, call.session, call.purpose)
        == (wanted.project, wanted.session, wanted.purpose)
    ]
    answered = sum(call.status == "answered" for call in mine)
    if answered >= limits.calls_per_session:
        text = f"the model was asked for this session already (calls_per_session = {answered})"
        return Refusal("session", text, waits=False)
    if len(mine) - answered >= TRIES:
        text = f"the model gave no usable answer for this session in {TRIES} tries"
        return Refusal("tries", text, waits=False)
    return None


def _per_night(
    calls: Sequence[Call], limits: Automem, wanted: Wanted, now: datetime
) -> Refusal | None:
    day = format_time(now)[:10]
    tonight = sum(
        call.project == wanted.project and call.purpose != "extract" and call.at.startswith(day)
        for call in calls
    )
    if tonight >= limits.calls_per_night:
        return Refusal("night", f"tonight's calls are used up (calls_per_night = {tonight})", False)
    return None


def _tokens(
    calls: Sequence[Call], limits: Automem, wanted: Wanted, now: datetime
) -> Refusal | None:
    day = format_time(now)[:10]
    used = sum(call.tokens for call in calls if call.at.startswith(day))
    if used + max(wanted.tokens, 1) <= limits.tokens_per_day:
        return None
    more = f", and this call may take {wanted.tokens:,}" if wanted.tokens else ""
    return Refusal(
        "tokens",
        f"{used:,} of today's {limits.tokens_per_day:,} tokens are used{more}; it goes on "
        "tomorrow, or with a higher [automem] tokens_per_day in your config.toml",
    )


def _dollars(
    calls: Sequence[Call], limits: Automem, wanted: Wanted, now: datetime
) -> Refusal | None:
    if not limits.dollars_per_month:
        return None
    rate = price(wanted.model, limits.prices)
    if rate is None:
        return Refusal(
            "price",
            f"the price of {wanted.model} is not known, so that dollars_per_month cannot be kept; "
            f'put it into your config.toml: [automem] prices = {{ "{wanted.model}" = [in, out] }}',
        )
    month = format_time(now)[:7]
    used = sum(call.dollars or 0.0 for call in calls if call.at.startswith(month))
    more = cost(rate, wanted.tokens, 0) or 0.0
    if used + more <= limits.dollars_per_month and used < limits.dollars_per_month:
        return None
    return Refusal(
        "dollars",
        f"${used:.2f} of this month's ${limits.dollars_per_month:.2f} are spent; it goes on next "
        "month, or with a higher [automem] dollars_per_month in your config.toml",
    )


def _broken(calls: Sequence[Call], model: str, now: datetime) -> Refusal | None:
    """The circuit breaker: after failures in a row the model rests, then one call tries it."""
    failures: list[Call] = []
    for call in reversed(calls):
        if call.model != model or call.status == "sent":
            continue
        if call.status not in BAD:
            break
        failures.append(call)
    last = failures[0].when if failures else None
    if len(failures) < TRIPS or last is None:
        return None
    rest = min(REST * 2 ** min(len(failures) - TRIPS, 10), LONGEST_REST)
    if last > now or now - last >= rest:  # a time in the future is a clock that was put back
        return None
    return Refusal(
        "breaker",
        f"{model} failed {len(failures)} times in a row and is left alone until "
        f"{format_time((last + rest).replace(microsecond=0))}",
    )
