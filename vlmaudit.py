"""The console script: joins the two halves' commands, and turns what goes wrong into one line and an exit code.

Exit codes: 0 done, 1 unexpected, 2 usage, 3 data, 4 provider, 5 locked, 130 stopped with Ctrl-C.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Sequence

import typer
from typer.exceptions import TyperException

from analysis.errors import AuditError, DataError
from analysis.render import inert

STOPPED = 130


def build() -> typer.Typer:
    """The command line: writing commands from the generator, reading commands from the analysis."""
    import analysis.cli
    import generator.cli

    app = typer.Typer(
        help="Audits whether vision-language models can be believed about their own use of evidence.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
    generator.cli.register(app)
    analysis.cli.register(app)
    return app


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a character still gets the line
    asked = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        code = build()(asked, prog_name="vlmaudit", standalone_mode=False)
        return _stopped() if code == STOPPED else code if isinstance(code, int) else 0
    except AuditError as fault:
        return _say(str(fault), fault.exit_code)
    except TyperException as fault:
        return _say(fault.format_message(), fault.exit_code)
    except OSError as fault:  # what no command foresaw: a path in a folder that may not be entered, a name too long, a full disk
        return _say(f"{fault.filename or 'the output'} cannot be used: {fault.strerror or fault}", DataError.exit_code)
    except KeyboardInterrupt:
        return _stopped()


def _stopped() -> int:
    """End after Ctrl-C, which may be pressed again on the way out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    code = _say("stopped", STOPPED)
    if threading.active_count() > 1:  # a query that does not end would take the interpreter down as it leaves
        os._exit(code)
    return code


def _say(message: str, code: int) -> int:
    line = " ".join(inert(message, keep="\n").split())
    print(f"error: {line}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
