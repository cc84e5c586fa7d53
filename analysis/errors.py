"""What can go wrong for a user: one line that names the thing and the remedy, and a distinct exit code."""


class AuditError(Exception):
    """A fault to tell the user about in one line; never a traceback."""

    exit_code = 1


class UsageError(AuditError):
    """The call itself is off: an unknown name, option or parameter."""

    exit_code = 2


class DataError(AuditError):
    """A file or a row is missing, malformed or contradicts another."""

    exit_code = 3


class ProviderError(AuditError):
    """A model's provider refused, or answered as something else than was pinned."""

    exit_code = 4


class LockedError(AuditError):
    """Another process holds the warehouse."""

    exit_code = 5
