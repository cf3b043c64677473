"""What doctor and status say of recall on a prompt: whether it is on, what it can bring here."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from ijfw_core.install.checks import Check, Examined
from ijfw_core.live import consent
from ijfw_core.loading import config as configuration
from ijfw_core.recall import prompt_index
from ijfw_core.storage.roots import Roots

NAME = "recall on a prompt"


def read(home: Path, env: Mapping[str, str], here: Roots | None) -> str:
    """What it can bring in the project we stand in; "" where it is off. Raises what the settings
    raise."""
    place = here or Roots(home, home, home / "team", home)
    if not configuration.load(place, env).recall.on_prompt:
        return ""
    if here is None:
        return "on; no project here"
    if not consent.read(here).consented:
        return "on, and silent here: no consent for this project"
    found = prompt_index.count(here)
    if found < 0:
        return "on, and silent until the next prompt has had its index made"
    some = "1 memory" if found == 1 else f"{found} memories"
    later = ", made anew with the next prompt" if prompt_index.stale(here, wanted=True) else ""
    return f"on: {some} in its index{later}"


def prompts(what: Examined) -> Iterator[Check]:
    """Nothing where it is off. On, it is never a fault: without an index it is silent."""
    detail = read(what.home, what.env, what.here)
    if detail:
        yield Check(name=NAME, ok=True, detail=detail)
