"""The watch: what counts as audited, in which order, and what is withdrawn once."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from schemas import Codec, PolicyChange
from scoring.guarantees.drift import MIN_ANSWERS
from streams.rates.verdict_counts import to_epoch_ms
from streams.reviews.audit_sample import AuditSample
from streams.reviews.policy_records import CODEC
from streams.reviews.policy_watch import PolicyWatch
from streams.reviews.rating_records import shadow_decision
from streams.reviews.rating_store import RatingStore
from streams.settings import KafkaSettings
from tests.support.clock import Clock
from tests.support.pauses import WHEN, raw_record
from tests.support.policies import a_certificate, a_change, a_fitted_policy, change_record
from tests.support.reviews import a_review
from tests.support.verdicts import any_verdict

SAMPLE = AuditSample(b"key", 0.5)
DRAWN = [name for n in range(400) if SAMPLE.raters(name := f"v-{n}")]
VERSION = "fitted-1"
LIMIT = 1000.0


class _Publisher:
    def __init__(self, watch: PolicyWatch) -> None:
        self.watch = watch
        self.changes: list[PolicyChange] = []

    async def publish(self, topic: str, key: bytes, value: bytes, headers: Any, partition: int) -> None:
        assert (topic, partition) == ("policies", 0)
        self.changes.append(CODEC.decode(value, PolicyChange))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RatingStore]:
    with closing(RatingStore(tmp_path, Codec())) as store:
        yield store


def a_watch(store: RatingStore, clock: Clock, **other: Any) -> PolicyWatch:
    watch = PolicyWatch(KafkaSettings(), store, SAMPLE, LIMIT, clock=clock, **other)
    changes = [a_change(VERSION, "proposed"), a_change(VERSION, "approved")]
    watch.apply(change_record(each, offset) for offset, each in enumerate(changes))
    watch.freshness.confirm(clock.now)
    return watch


def sent(place: int, *, version: str = VERSION, seconds: float = 1, **fields: Any):
    at = WHEN + timedelta(seconds=seconds + place / 1000)
    own = {"message_type": "instruction", "language": "nl", "reasons": ("low_risk", "judged_true")}
    return any_verdict(
        **{
            "verdict_id": DRAWN[place],
            "decision": "auto_send",
            "policy_version": version,
            "scored_at": at,
            **own,
            **fields,
        }
    )


def rated(place: int, rating: int, *, after: float = 60, **fields: Any):
    at = WHEN + timedelta(seconds=after)
    own = {"review_id": f"r-{place}-{rating}", "verdict_id": DRAWN[place], "reviewed_at": at}
    return a_review(**{**own, "rating": rating, "source": "desk", **fields})


def now_of(seconds: float) -> Clock:
    return Clock(WHEN.timestamp() + seconds)


def counted(watch: PolicyWatch) -> tuple[int, int]:
    (found,) = watch.watched()
    return found.watch.audited, found.watch.mistakes


def test_only_what_the_version_sent_by_a_certificate_since_its_approval_and_was_drawn_counts(store):
    not_drawn = next(f"v-{n}" for n in range(400) if f"v-{n}" not in DRAWN)
    store.apply(
        [
            sent(0),
            sent(1, language="en"),
            sent(2, language="fr"),
            sent(3, version="fitted-0"),
            sent(4, reasons=("known_true",)),
            sent(5, seconds=-10),
            sent(6, verdict_id=not_drawn),
            *(rated(place, 1) for place in range(6)),
        ],
        {},
    )
    assert counted(a_watch(store, now_of(70))) == (2, 2)


def test_the_first_rating_counts_and_what_is_late_or_missing_does_not(store):
    reviews = [rated(0, 5, after=60), rated(0, 1, after=70, reviewer="alex"), rated(1, 1, after=LIMIT + 60)]
    store.apply([*(sent(place) for place in range(3)), *reviews, rated(2, 3)], {})
    assert counted(a_watch(store, now_of(80))) == (3, 1)
    before, after = (a_watch(store, now_of(seconds)).watched()[0].watch for seconds in (80, LIMIT + 90))
    assert before.capitals < after.capitals, "not rated yet is no mistake; never rated is nothing"


def test_the_order_is_that_of_scoring_whoever_rates_first(store):
    places = range(60)
    store.apply([*(sent(place) for place in places)], {})
    store.apply([rated(place, 1 if place < 6 else 5, after=300 - place) for place in places], {})
    (found,) = a_watch(store, now_of(400)).watched()
    assert (
        found.watch.peak > found.watch.after([]).__class__(0.05, 0.05).after([False] * 54 + [True] * 6).peak
    )
    assert (found.watch.audited, found.watch.mistakes) == (60, 6)


async def test_too_many_mistakes_withdraw_each_group_once_also_after_a_restart(store):
    store.apply([*(sent(place) for place in range(40)), *(rated(place, 1) for place in range(40))], {})
    withdrawn: list[None] = []
    for is_active, expected in ((False, 0), (True, 2)):
        watch = a_watch(
            store,
            now_of(70),
            is_active=lambda is_active=is_active: is_active,
            on_withdrawn=lambda: withdrawn.append(None),
        )
        publisher = _Publisher(watch)
        await watch._withdraw_due(publisher)
        await watch._withdraw_due(publisher)
        assert len(publisher.changes) == len(withdrawn) == expected
    assert {(each.version, each.change, each.group, each.by) for each in publisher.changes} == {
        (VERSION, "withdrawn", group, "truthgate") for group in ("instruction nl", "instruction en")
    }
    assert watch.evidence == {("instruction nl, instruction en",): 1.0}
    again = a_watch(store, now_of(70))
    again.apply(change_record(each, 2 + offset) for offset, each in enumerate(publisher.changes))
    publisher = _Publisher(again)
    await again._withdraw_due(publisher)
    assert publisher.changes == []


async def test_what_is_approved_again_is_watched_anew(store):
    store.apply([*(sent(place) for place in range(40)), *(rated(place, 1) for place in range(40))], {})
    watch = a_watch(store, now_of(70))
    change = a_change(VERSION, "approved")
    at = datetime.fromtimestamp(WHEN.timestamp() + 65, UTC)
    later = PolicyChange(VERSION, "approved", None, at, change.by, change.reason)
    watch.apply([change_record(later, 5)])
    assert counted(watch) == (0, 0)
    watch.apply([change_record(a_change("settings", "approved"), 6)])
    assert watch.watched() == []
    watch.apply([raw_record(b"settings/proposed", b"x", 7)])
    assert watch.watched() == []


async def test_whoever_approves_with_a_clock_that_is_fast_is_watched_all_the_same(store):
    store.apply([*(sent(place) for place in range(40)), *(rated(place, 1) for place in range(40))], {})
    watch = a_watch(store, now_of(70))
    approved = a_change(VERSION, "approved")
    fast = change_record(replace(approved, at=approved.at + timedelta(hours=12)), 5)
    watch.apply([replace(fast, timestamp=to_epoch_ms(approved.at))])
    assert counted(watch) == (40, 40)


@pytest.mark.parametrize(("withdraws", "groups"), [(False, 0), (True, 2)])
async def test_drift_from_the_period_of_the_certificates_is_told_and_withdraws_if_so_set(
    store, withdraws, groups
):
    period = datetime.fromtimestamp(1_764_200_000, UTC)
    verdicts = [
        any_verdict(verdict_id=f"{name}-{number}", scored_at=at, score=score, decision="review")
        for name, at, score in (("before", period, 4.5), ("now", WHEN + timedelta(seconds=1), 2.5))
        for number in range(MIN_ANSWERS)
    ]
    store.apply(verdicts, {})
    watch = a_watch(store, now_of(70), withdraws_on_drift=withdraws)
    publisher = _Publisher(watch)
    await watch._withdraw_due(publisher)
    await watch._withdraw_due(publisher)
    assert watch.drift[("score",)] > 1
    assert watch.drift[("language",)] < 0.01
    assert len(publisher.changes) == groups
    assert all(each.reason.startswith("score has drifted: ") for each in publisher.changes)


async def test_a_version_that_is_approved_is_not_withdrawn_by_the_drift_of_the_one_before(store):
    """The answers are like those of its own period; the version before was fitted to others."""
    period = datetime.fromtimestamp(1_764_200_000, UTC)
    verdicts = [
        any_verdict(verdict_id=f"{name}-{number}", scored_at=at, score=score, decision="review")
        for name, at, score in (
            ("old", period, 4.5),
            ("new", WHEN - timedelta(seconds=50), 2.5),
            ("now", WHEN + timedelta(seconds=1), 2.5),
        )
        for number in range(MIN_ANSWERS)
    ]
    store.apply(verdicts, {})
    watch = a_watch(store, now_of(70), withdraws_on_drift=True)
    publisher = _Publisher(watch)
    await watch._withdraw_due(publisher)
    assert len(publisher.changes) == 2
    own_period = {"first": to_epoch_ms(WHEN) - 60_000, "last": to_epoch_ms(WHEN) - 1_000}
    fitted = a_fitted_policy(a_certificate(**own_period))
    changes = a_change("fitted-2", "proposed", fitted=fitted), a_change("fitted-2", "approved")
    watch.apply(change_record(each, 10 + offset) for offset, each in enumerate(changes))
    await watch._withdraw_due(publisher)
    assert watch.drift[("score",)] < 0.01
    assert len(publisher.changes) == 2


async def test_a_version_without_certificates_is_watched_like_any_other(store):
    store.apply([sent(0), rated(0, 1)], {})
    watch = a_watch(store, now_of(70))
    nothing = a_change("fitted-2", "proposed", fitted=replace(a_fitted_policy(), certificates=()))
    changes = nothing, a_change("fitted-2", "approved")
    watch.apply(change_record(each, 10 + offset) for offset, each in enumerate(changes))
    await watch._withdraw_due(_Publisher(watch))
    assert (watch.latest, watch.drift) == ([], {})


async def test_drift_is_not_told_as_long_as_too_few_answers_show_it(store):
    period = datetime.fromtimestamp(1_764_200_000, UTC)
    times = [period] * MIN_ANSWERS + [WHEN] * (MIN_ANSWERS - 1)
    store.apply([any_verdict(verdict_id=f"v-{n}", scored_at=at) for n, at in enumerate(times)], {})
    watch = a_watch(store, now_of(70), withdraws_on_drift=True)
    await watch._withdraw_due(_Publisher(watch))
    assert watch.drift == {}


async def test_shadows_that_judged_in_the_last_seven_days_are_compared_with_what_was_decided(store):
    day = 86_400
    store.apply([sent(0), shadow_decision(sent(0, decision="review"), "strict")], {})
    for seconds, names in ((7 * day, ["strict"]), (7 * day + 10, [])):
        watch = a_watch(store, now_of(seconds))
        assert watch.shadows == {}
        await watch._withdraw_due(_Publisher(watch))
        assert list(watch.shadows) == names
        assert all(each[0].only_first == 1 for each in watch.shadows.values())
