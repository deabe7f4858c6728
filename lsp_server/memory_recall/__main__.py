"""The terminal's way in: `memory-recall`, and `python -m memory_recall` where no script was installed."""

from __future__ import annotations

import signal


def main() -> int:
    """Run the command line of this process.

    Until the program is loaded, Ctrl-C ends it as it ends any program; a traceback of imports would tell nobody
    anything.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    from memory_recall.faces.cli.main import main as run

    signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()


if __name__ == "__main__":
    raise SystemExit(main())
