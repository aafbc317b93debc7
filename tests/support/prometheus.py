"""A real Prometheus that scrapes a worker twice a second and evaluates rules as often."""

import json
import math
import re
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import httpx2

from streams.embedded.broker_properties import LOOPBACK
from tests.support.debian import debian_tool

INTERVAL_SECONDS = 0.5
_START_SECONDS = 60.0
_STOP_SECONDS = 20.0
_POLL_SECONDS = 0.1
#: Where it listens is known when it does: no port is chosen for it that another process may take before.
_LISTENS = re.compile(r'msg="Listening on" address=[\d.]+:(\d+)')


class Prometheus:
    """One Prometheus process with its data in a folder; ends with the context.

    Args:
        folder: where its configuration, data and log go.
        target: host and port of what it scrapes, as job ``truthgate``.
        rules: the text of its rule file.
    """

    def __init__(self, folder: Path, target: str, rules: str) -> None:
        self._folder = folder
        self._target = target
        self._rules = rules
        self._port = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._started = time.time()

    def __enter__(self) -> Self:
        self._write_configuration()
        with (self._folder / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    debian_tool("prometheus"),
                    f"--config.file={self._folder / 'prometheus.yml'}",
                    f"--storage.tsdb.path={self._folder / 'data'}",
                    f"--web.listen-address={LOOPBACK}:0",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._wait_ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._process is not None
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(_STOP_SECONDS)

    def values(self, expression: str) -> list[float]:
        """Give every value, but those that are no number, that an expression has had since the start."""
        now = time.time()
        # Prometheus refuses more than 11,000 steps.
        asked = {"query": expression, "start": self._started, "end": now, "step": INTERVAL_SECONDS}
        series = self._ask("query_range", asked)["result"]
        found = (float(value) for each in series for _, value in each["values"])
        return [value for value in found if not math.isnan(value)]

    def now(self, expression: str) -> list[dict[str, Any]]:
        """Give the series that an expression has now."""
        return self._ask("query", {"query": expression})["result"]

    def alerts(self, state: str) -> set[str]:
        """Give the names of the alerts in a state: ``pending`` or ``firing``."""
        return {
            alert["labels"]["alertname"]
            for alert in self._ask("alerts", {})["alerts"]
            if alert["state"] == state
        }

    def broken_rules(self) -> list[str]:
        """Give the names and errors of rules that could not be evaluated."""
        groups = self._ask("rules", {})["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        return [f"{rule['name']}: {rule['lastError']}" for rule in rules if rule.get("lastError")]

    def _ask(self, question: str, parameters: dict[str, Any]) -> Any:
        url = f"http://{LOOPBACK}:{self._port}/api/v1/{question}"
        response = httpx2.get(url, params=parameters, timeout=10, trust_env=False, verify=False)
        return response.raise_for_status().json()["data"]

    def _write_configuration(self) -> None:
        (self._folder / "rules.yml").write_text(self._rules, "utf-8")
        interval = f"{INTERVAL_SECONDS * 1000:g}ms"
        configuration = {
            "global": {
                "scrape_interval": interval,
                "scrape_timeout": interval,
                "evaluation_interval": interval,
            },
            "rule_files": ["rules.yml"],
            "scrape_configs": [{"job_name": "truthgate", "static_configs": [{"targets": [self._target]}]}],
        }
        (self._folder / "prometheus.yml").write_text(json.dumps(configuration), "utf-8")

    def _wait_ready(self) -> None:
        end = time.monotonic() + _START_SECONDS
        while not self._is_ready():
            assert self._process is not None
            if self._process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"Prometheus is not ready; its log ends:\n{self._log()[-3000:]}")
            time.sleep(_POLL_SECONDS)

    def _log(self) -> str:
        return (self._folder / "prometheus.log").read_text("utf-8", "replace")

    def _is_ready(self) -> bool:
        if not (told := _LISTENS.search(self._log())):
            return False
        self._port = int(told[1])
        try:
            url = f"http://{LOOPBACK}:{self._port}/-/ready"
            return httpx2.get(url, timeout=2, trust_env=False, verify=False).is_success
        except httpx2.TransportError:
            return False
