"""Follows the topic `policies`, and says which policy a worker decides by."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Final

import structlog
from aiokafka import ConsumerRecord

from scoring.policy.certificates import SETTINGS_POLICY, ActivePolicy, FittedThresholds
from scoring.values.rules import Reason
from streams.observability.instruments import Instruments, MetricLabel
from streams.reviews.policy_records import SETTINGS_VERSION
from streams.reviews.policy_state import PolicyEntry, PolicyState, PolicyStatus

#: How many of the documents have changed is counted so often, and after each record.
_DOCUMENTS_SECONDS: Final = 60.0

#: Returns the share of the documents that have changed since a time in ms since 1970.
ShareChanged = Callable[[int], Awaitable[float]]

log = structlog.get_logger(__name__)


class PolicyFollower:
    """The policy of a worker, kept up to date with the topic; it is unknown while the topic cannot be read.

    Args:
        state: what the topic says.
        asks_judges: whether the worker has judges.

    Attributes:
        is_read: set once the topic was read to its end.
    """

    def __init__(self, state: PolicyState, *, asks_judges: bool) -> None:
        self.freshness = state.freshness
        self.is_read = asyncio.Event()
        self._state = state
        self._asks_judges = asks_judges
        self._changed = asyncio.Event()
        self._shares: dict[int, float] = {}
        self._active = SETTINGS_POLICY
        self._was_known: bool | None = None

    def apply(self, records: Iterable[ConsumerRecord]) -> None:
        """Apply records in their order, and log them once the topic was read to its end."""
        for entry in self._state.apply(records):
            if self.is_read.is_set() or entry.error:
                _log_entry(entry)
            self._changed.set()
        self._active = self._valid()

    def on_poll(self) -> None:
        """Log whether it is known which policy decides."""
        is_known = self._state.is_known
        if not self.is_read.is_set():
            current = self._state.current
            log.info("policy_current", version=current.version, state=self._state.status(current))
            self.is_read.set()
        if is_known and self._was_known is False:
            log.info("policies_known_again")
        elif not is_known and self._was_known is not False:
            log.warning("policies_unknown")
        self._was_known = is_known

    def on_lost(self, code: str) -> None:
        """Forget what was read: the topic cannot be read any more."""
        log.warning("policies_lost", error_type=code)
        self._was_known = False
        self._state.forget()
        self._active = self._valid()

    async def watch_documents(self, share_changed: ShareChanged) -> None:
        """End the promises of certificates when too many documents have changed, until cancelled."""
        while True:
            await self.measure_documents(share_changed)
            self._changed.clear()
            try:
                async with asyncio.timeout(_DOCUMENTS_SECONDS):
                    await self._changed.wait()
            except TimeoutError:
                continue

    async def measure_documents(self, share_changed: ShareChanged) -> None:
        """Measure how many documents have changed since the periods of the certificates that may decide.

        Those of proposed versions too, so that an approval counts at once.
        """
        deciding = (
            each.fitted
            for each in self._state.versions
            if each.version == self._state.current.version
            or self._state.status(each) is PolicyStatus.PROPOSED
        )
        periods = {each.last for fitted in deciding if fitted for each in fitted.certificates}
        self._shares = {last: await share_changed(last) for last in periods}
        self._active = self._valid()

    def _valid(self) -> ActivePolicy:
        """Return the current policy with the certificates whose documents and judges are what they were.

        One whose documents were not compared yet is not valid.
        """
        current = self._state.current
        if current.version == SETTINGS_VERSION:
            fitted, version = None, None
        else:
            fitted, version = self._without_void(current.fitted), current.version
        is_withdrawn = self._state.status(current) is PolicyStatus.WITHDRAWN
        objection = Reason.POLICY_WITHDRAWN if is_withdrawn else None
        return ActivePolicy(version, fitted, objection, current.withdrawn_groups)

    def _without_void(self, fitted: FittedThresholds | None) -> FittedThresholds | None:
        if fitted is None:
            return None
        valid = (
            each
            for each in fitted.certificates
            if self._shares.get(each.last, 1.0) <= each.max_documents_changed
            and (self._asks_judges or not each.needs_judges)
        )
        return replace(fitted, certificates=tuple(valid))

    @property
    def active(self) -> ActivePolicy:
        """The policy to decide by now."""
        if self._state.is_known:
            return self._active
        return replace(self._active, objection=Reason.POLICY_UNKNOWN)

    def impairment(self) -> str | None:
        """Return the impairment that readiness reports, or None if the policy is known."""
        is_known = self._state.is_known
        return None if is_known else "the policy is unknown: nothing is sent by score, opinion or risk"

    @property
    def status(self) -> tuple[str, str]:
        """The current version, and ``active``, ``withdrawn`` or ``unknown``."""
        current = self._state.current
        return current.version, self._state.status(current) if self._state.is_known else "unknown"

    @property
    def certificates(self) -> dict[tuple[str, ...], float]:
        """The number of certificates of the current version by whether they are valid."""
        fitted, valid = self._state.current.fitted, self._active.fitted
        if fitted is None or valid is None:
            return {}
        number = len(valid.certificates)
        return {("valid",): number, ("void",): len(fitted.certificates) - number}


def _log_entry(entry: PolicyEntry) -> None:
    """Log a record without its reason: a person's own words may quote a customer."""
    change, version, offset = entry.change, entry.version, entry.offset
    if entry.error:
        log.error("policy_unreadable", version=version, error_type=entry.error, offset=offset)
    elif change is None:
        log.warning("policy_record_removed", version=version, offset=offset)
    else:
        log.warning(
            "policy_changed",
            version=version,
            change=change.change,
            group=change.group,
            by=change.by,
            offset=offset,
        )


class PolicyMetrics:
    """The metrics of policies."""

    def __init__(self, instruments: Instruments) -> None:
        self._current = instruments.gauge(
            "truthgate.policy",
            "1 for the version of the policy that decides, `settings` for that of the settings, by state: "
            "active, withdrawn or unknown. Nothing is sent by score, opinion or risk but by an active one.",
            "withdrawn: `truthgate policy show`; unknown: the log line `policies_unknown`; the brokers.",
            MetricLabel("version"),
            MetricLabel("state"),
        )
        self._withdrawn = instruments.gauge(
            "truthgate.policy_withdrawn",
            "1 for each group (message type and language) for which the current policy was withdrawn alone.",
            "`truthgate policy show` says by whom and why.",
            MetricLabel("group"),
        )
        self._certificates = instruments.gauge(
            "truthgate.policy_certificates",
            "Certificates of the current policy: valid, or void, since too many documents changed or the "
            "worker lacks the judges that were asked in their period.",
            "void: set the judges again, or fit the policy again, with ratings of answers as they are now.",
            MetricLabel("state"),
            unit="{certificate}",
        )

    def watch(self, policy: PolicyFollower) -> None:
        """Show the policy of a worker, whenever it is asked."""
        self._current.set_labelled_function(lambda: {policy.status: 1})
        self._withdrawn.set_labelled_function(
            lambda: {(group,): 1 for group in policy.active.withdrawn_groups}
        )
        self._certificates.set_labelled_function(lambda: policy.certificates)
