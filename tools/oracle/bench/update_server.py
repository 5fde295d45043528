"""The peers' side of `bench/update-process.ts`: one update per line of stdin, one JSON line each."""

import json
import platform
import resource
import sys
from importlib.metadata import version


class UpdateServer:
    """Answers requests on stdin with JSON lines; everything else that is printed goes to stderr."""

    def __init__(self) -> None:
        self.output, sys.stdout = sys.stdout, sys.stderr

    def answer(self, result: dict) -> None:
        print(json.dumps(result), file=self.output, flush=True)

    def wait(self) -> bool:
        """Waits for the next request; false at the end of stdin."""
        return sys.stdin.readline() != ""


def facts_of(packages: tuple[str, ...], **facts: object) -> dict:
    """What a peer reports at its end."""
    return {
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        **facts,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in packages},
        },
    }
