"""The server with one fault, for tests of what a client then sees: `python faulty_server.py FAULT`.

The fault is in what `memoryRecall.status` does: `print` to standard output by every way there is, `raise` with a secret
in its message, or `hang` without looking whether anybody waits.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import Any

from memory_recall.faces import status as status_module
from memory_recall.faces.lsp.main import main

FAULT = sys.argv[1]


def status(*_: object) -> dict[str, Any]:
    if FAULT == "print":
        print("printed")
        os.write(1, b"written\n")
        subprocess.run(["echo", "echoed"], check=True)
        assert sys.stdin.read() == "", "the protocol's input is nobody else's"
    elif FAULT == "raise":
        raise KeyError("secret-memory-text in /home/ann/secret.md")
    elif FAULT == "hang":
        time.sleep(600)
    return {"v": 1, "versions": {}}


status_module.status = status  # type: ignore[assignment]

if __name__ == "__main__":
    sys.exit(main([]))
