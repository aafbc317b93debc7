"""The demo with a real language model that is asked about the answers in doubt; ``make demo-judge`` runs it.

Arguments are those of ``truthgate demo``. The sample is in English: the model hardly knows another language.
"""

import json
import os
import signal
import subprocess
import sys
from types import FrameType

from tests.support.small_model import MODEL, SmallModel

_SMALL = (
    f"the judge is {MODEL}, a real language model behind the real protocol that is far too small to judge "
    "well: see how it is asked and within which budget, never what it says\n"
)
#: Each takes some seconds on two idle cores, and minutes on two with much other work; the budget has no room
#: for the rest.
_OPINIONS = 2
_LIMIT_SECONDS = 500
_ANSWER_SECONDS = 1_000


def main() -> int:
    """Start the model, and then the demo; returns the exit code of the demo."""
    sys.stderr.write(_SMALL)
    with SmallModel() as model:
        demo = subprocess.Popen(
            [sys.executable, "-m", "streams.cli", "demo", "--judges", "--language", "en", *sys.argv[1:]],
            env={**os.environ, **variables(model.url)},
        )

        def pass_on(number: int, _: FrameType | None) -> None:
            # Ctrl-C reaches both by itself.
            if number != signal.SIGINT:
                demo.send_signal(number)

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, pass_on)
        return demo.wait()


def variables(url: str) -> dict[str, str]:
    """Give the settings for a judge at this address, within what the model can do."""
    endpoint = {
        "base_url": url,
        "model": MODEL,
        "request_timeout_seconds": _LIMIT_SECONDS,
        "concurrency": 1,
    }
    return {
        "TRUTHGATE_JUDGES__ENDPOINTS": json.dumps({"small": endpoint}),
        "TRUTHGATE_JUDGES__CHAIN": json.dumps(
            [{"judges": ["small"], "max_characters": 1_000, "max_tokens": 120}]
        ),
        "TRUTHGATE_FLOW__ANSWER_TIMEOUT_SECONDS": str(_ANSWER_SECONDS),
        # Nothing is committed past an answer that waits.
        "TRUTHGATE_HEALTH__STALL_TIMEOUT_SECONDS": str(_ANSWER_SECONDS + _LIMIT_SECONDS),
        "TRUTHGATE_JUDGES__TIMEOUT_SECONDS": str(_LIMIT_SECONDS),
        "TRUTHGATE_JUDGES__BUDGET": json.dumps({"requests_per_day": _OPINIONS}),
    }


if __name__ == "__main__":
    sys.exit(main())
