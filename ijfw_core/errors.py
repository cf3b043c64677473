"""Errors that reach a person. Each says what happened, what was kept and what to do next."""


class IjfwError(Exception):
    """Something the person asked for did not hold or was not found (exit status 1)."""

    code = 1


class NotFoundError(IjfwError):
    """The thing that was named does not exist (exit status 1)."""


class UsageError(IjfwError):
    """The command was used in a wrong way (exit status 2)."""

    code = 2


class RefusedError(IjfwError):
    """Refused for safety: nothing was read or written there (exit status 3)."""

    code = 3


class AdapterFailedError(IjfwError):
    """A platform's adapter failed at what it can do otherwise; the next try may hold."""


class LockTimeoutError(IjfwError):
    """Another process held a lock for too long; what was to be written is kept in the spool."""


class WithheldError(IjfwError):
    """A redactor failed, so a text may not be used. Carries no text."""


class StoreClosedError(IjfwError):
    """No store is available: nothing is written, what was heard stays in the spool."""
