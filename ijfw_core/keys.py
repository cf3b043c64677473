"""API keys of model providers: in the system's keyring, or in the environment; never in a file of
ours, in a log, or in the arguments of a process.

The environment goes first, so that a key can be tried without touching what is stored.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, NamedTuple

from ijfw_core.errors import IjfwError, UsageError

SERVICE = "ijfw"  # the keyring's name of us; the user name is the provider's
VARIABLES = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}
LONGEST = 4096  # characters; what is longer is no key
Place = Literal["environment", "keyring", ""]


class Status(NamedTuple):
    """Where a provider's key is, if there is one, and what stands in the way."""

    provider: str
    place: Place
    variable: str
    problem: str = ""  # why the keyring cannot be asked

    @property
    def present(self) -> bool:
        """Whether there is a key."""
        return bool(self.place)


def variable(provider: str) -> str:
    """The environment variable that holds a provider's key."""
    return VARIABLES.get(provider, f"{provider.upper().replace('-', '_')}_API_KEY")


def get(provider: str, env: Mapping[str, str] | None = None) -> str | None:
    """The key of a provider, for a call that was consented to; None where there is none, or the
    keyring does not answer."""
    key = _from(env, provider)
    if key:
        return key
    try:
        with _keyring():
            import keyring

            return keyring.get_password(SERVICE, provider) or None
    except IjfwError:
        return None


def status(provider: str, env: Mapping[str, str] | None = None) -> Status:
    """Where a provider's key is; the key itself goes nowhere."""
    name = variable(provider)
    if _from(env, provider):
        return Status(provider, "environment", name)
    try:
        with _keyring():
            import keyring

            found = keyring.get_password(SERVICE, provider)
    except IjfwError as error:
        return Status(provider, "", name, str(error))
    return Status(provider, "keyring" if found else "", name)


def put(provider: str, key: str) -> None:
    """Store a key in the keyring. Raises UsageError for what is no key, IjfwError where there is
    no keyring."""
    key = key.strip()
    if not key or len(key) > LONGEST or not key.isprintable() or any(c.isspace() for c in key):
        raise UsageError("that is no key: one line of visible characters without blanks is wanted")
    with _keyring(provider):
        import keyring

        keyring.set_password(SERVICE, provider, key)


def delete(provider: str) -> bool:
    """Remove a key from the keyring; whether there was one. Raises IjfwError as `put`."""
    with _keyring(provider):
        import keyring

        if keyring.get_password(SERVICE, provider) is None:
            return False
        keyring.delete_password(SERVICE, provider)
    return True


def _from(env: Mapping[str, str] | None, provider: str) -> str:
    return (os.environ if env is None else env).get(variable(provider), "").strip()


@contextmanager
def _keyring(provider: str = "") -> Iterator[None]:
    """Turn whatever a keyring's backend raises into one message; it never holds the key."""
    instead = f" Set {variable(provider)} in the environment instead." if provider else ""
    try:
        from keyring.errors import NoKeyringError
    except ImportError as error:
        raise IjfwError(f"the keyring cannot be loaded ({error.name}).{instead}") from None
    try:
        yield
    except NoKeyringError:
        raise IjfwError(f"this system has no keyring that answers.{instead}") from None
    except Exception as error:  # backends raise what they like: D-Bus, Windows, a locked vault
        raise IjfwError(f"the keyring refused ({type(error).__name__}).{instead}") from None
