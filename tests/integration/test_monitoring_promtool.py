"""The rules as Prometheus evaluates them: what fires, what stays silent, and what resolves."""

from pathlib import Path
from typing import Any

import pytest

from streams.monitoring.prometheus_rules import Deployment, RuleGroup
from streams.monitoring.rendering import all_rules, render_rule_file
from tests.support.monitoring import EVERYTHING
from tests.support.promtool import Fires, check, play

HIGH = "TruthgateHallucinationRateHigh"
LATE = "TruthgateVerdictsLate"
UNJUDGED = "TruthgateAnswersUnjudged"
OBJECTIVES = ("truthgate-verdicts-late", "truthgate-answers-unjudged")


@pytest.fixture
def every_rule(tmp_path: Path) -> Path:
    """Give a file of all rules."""
    return _written(tmp_path, all_rules(Deployment(EVERYTHING)))


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """Give the same without objectives, whose many windows promtool takes long to evaluate."""
    groups = all_rules(Deployment(EVERYTHING))
    return _written(tmp_path, tuple(group for group in groups if group.name not in OBJECTIVES))


def _written(folder: Path, groups: tuple[RuleGroup, ...]) -> Path:
    written = folder / "rules.yml"
    written.write_text(render_rule_file(groups, "https://example.com/runbook"), "utf-8")
    return written


def test_promtool_finds_no_fault_with_the_rules(every_rule: Path) -> None:
    assert "rules found" in check(every_rule)


def _threshold(bound: str, scored: str, worker: str = "a") -> dict[str, str]:
    labels = (
        f'job="truthgate", instance="{worker}", alert="guides", message_type="instruction", language="nl", '
        'window="5m", severity="critical"'
    )
    return {
        f"truthgate_alert_rate_lower_bound{{{labels}}}": bound,
        f"truthgate_alert_threshold{{{labels}}}": _constant("0.2", bound),
        f"truthgate_alert_scored_answers{{{labels}}}": scored,
        f"truthgate_alert_minimum_answers{{{labels}}}": _constant("30", bound),
    }


def _constant(value: str, course: str) -> str:
    """Give a series that is there when another is."""
    return " ".join(
        part if part.startswith(("_", "stale")) else f"{value}x{part.partition('x')[2] or 0}"
        for part in course.split()
    )


def test_a_rate_above_its_threshold_fires_with_its_severity_and_resolves(rules: Path) -> None:
    series = _threshold("0.1x4 0.35x9 0.1x20", "100x40")
    expected = [
        Fires(4, HIGH),
        Fires(5, HIGH),  # pending
        Fires(7, HIGH, values=("critical",)),
        Fires(14, HIGH, values=("critical",)),
        Fires(16, HIGH),
    ]
    play(rules, series, expected)


def test_a_rate_alert_says_what_happened_and_where_the_runbook_has_it(rules: Path) -> None:
    alert = {
        "exp_labels": {
            "job": "truthgate",
            "alert": "guides",
            "message_type": "instruction",
            "language": "nl",
            "window": "5m",
            "severity": "critical",
        },
        "exp_annotations": {
            "summary": "Too many untrue answers: guides",
            "description": "At least 35% of the scored answers (message type instruction, language nl, last "
            "5m) are untrue, with 95% confidence, which is above the threshold guides. They are blocked; "
            "the chatbot's answers have become worse.",
            "runbook_url": "https://example.com/runbook#truthgatehallucinationratehigh",
        },
    }
    test: dict[str, Any] = {"eval_time": "5m", "alertname": HIGH, "exp_alerts": [alert]}
    play(rules, _threshold("0.35x9", "100x9"), [], alert_rule_test=[test])


def test_three_untrue_answers_alert_nobody(rules: Path) -> None:
    """Three of three have a lower bound of 0.44."""
    play(rules, _threshold("0.44x20", "3x20"), [Fires(minute, HIGH) for minute in (2, 10, 20)])


def test_another_leader_neither_resolves_nor_repeats_a_rate_alert(rules: Path) -> None:
    """The old leader is gone for three minutes before the new one exports."""
    old = _threshold("0.35x9 stale", "100x9 stale", "a")
    new = _threshold("_x12 0.3x10 0.1x10", "_x12 100x20", "b")
    firing = [Fires(minute, HIGH, values=("critical",)) for minute in range(2, 23)]
    play(rules, old | new, [*firing, Fires(26, HIGH)])


def test_without_a_leader_a_rate_alert_ends_and_the_missing_leader_is_told(rules: Path) -> None:
    leader = {'truthgate_rates_leader{job="truthgate", instance="b"}': "0x30"}
    series = _threshold("0.35x9 stale", "100x9 stale") | leader
    play(rules, series, [Fires(17, HIGH), Fires(17, "TruthgateRatesWithoutLeader", values=("warning",))])


def _verdicts(count: str, in_time: str, worker: str = "a") -> dict[str, str]:
    name, labels = "truthgate_verdict_latency_seconds", f'job="truthgate", instance="{worker}"'
    return {f"{name}_count{{{labels}}}": count, f'{name}_bucket{{{labels}, le="5.0"}}': in_time}


def test_verdicts_that_come_late_spend_the_budget_alert_and_resolve(every_rule: Path) -> None:
    """Four good hours, then half an hour in which every verdict is late, then all is well again."""
    series = _verdicts("0+100x320", "0+100x240 24000x29 24000+100x50")
    expected = [
        Fires(240, LATE),
        Fires(244, LATE),  # 7% of the last hour: calls nobody yet
        Fires(255, LATE, "window", ("1h",)),
        Fires(269, LATE, "window", ("1h", "6h")),
        Fires(280, LATE, "window", ("6h",)),  # the short window of 5 minutes is good again
        Fires(305, LATE),
    ]
    play(every_rule, series, expected)


def test_the_first_traffic_alerts_only_once_the_window_has_seen_more_of_it(every_rule: Path) -> None:
    """Every verdict is late from the first one on, which comes at minute 20."""
    series = _worker("0x20 0+100x200", "0x20 0+100x200", "0x220")
    silent = [Fires(minute, LATE) for minute in (22, 30, 45, 49)]
    play(
        every_rule,
        series,
        [*silent, Fires(55, LATE, "window", ("1h",)), Fires(210, LATE, "window", ("1h", "6h"))],
    )


@pytest.mark.timeout(1_200)  # promtool plays a week
def test_a_slow_leak_is_for_the_same_day_and_calls_nobody_at_once(every_rule: Path) -> None:
    """Four of a hundred are late, where one may be, for a day and a half."""
    series = _verdicts("0+100x2200", "0+96x2200")
    expected = [Fires(60, LATE), Fires(700, LATE), Fires(730, LATE, "window", ("1d",))]
    play(
        every_rule,
        series,
        [*expected, Fires(2190, LATE, "window", ("1d", "3d")), Fires(2190, LATE, values=("warning",))],
    )


def test_few_late_verdicts_at_night_alert_nobody(every_rule: Path) -> None:
    """Four verdicts in two hours, all of them late."""
    series = _verdicts("0x10 1x20 2x20 3x20 4x60", "0x130")
    play(every_rule, series, [Fires(minute, LATE) for minute in (15, 60, 130)])


def _worker(verdicts: str, count: str, in_time: str) -> dict[str, str]:
    """Give a worker that can be scraped, and has counted verdicts from 0, before the first has a latency."""
    own = 'job="truthgate", instance="a"'
    total = f'truthgate_verdicts_total{{{own}, decision="review", message_type="other", language="nl"}}'
    return {f"up{{{own}}}": "1x200", total: verdicts} | _verdicts(count, in_time)


def test_a_worker_whose_first_verdicts_are_all_late_alerts(every_rule: Path) -> None:
    """Five hundred late ones come between two scrapes: their series begin with 500 and never grow.

    Another worker judged a few an hour before.
    """
    series = _worker("0x79 500x40", "_x80 500x40", "_x80 0x40") | _verdicts(
        "0+1x20 20x100", "0+1x20 20x100", "b"
    )
    expected = [
        Fires(79, LATE, "window"),
        Fires(83, LATE, "window", ("1h",)),
        Fires(95, LATE, "window"),
    ]
    play(every_rule, series, expected)


def test_a_worker_that_starts_anew_and_is_in_time_alerts_nobody(every_rule: Path) -> None:
    """Its counters fall to 0, there is no latency for five minutes, and then 500 verdicts at once."""
    verdicts, latency = "0+100x30 0x5 500+100x40", "0+100x30 stale _x5 500+100x40"
    series = _worker(verdicts, latency, latency)
    play(every_rule, series, [Fires(minute, LATE) for minute in range(0, 76, 3)])


def test_a_worker_that_starts_anew_and_is_late_alerts(every_rule: Path) -> None:
    series = _worker("0+100x30 0x5 5000x10", "0+100x30 stale _x5 5000x10", "0+100x30 stale _x5 0x10")
    play(every_rule, series, [Fires(30, LATE), Fires(39, LATE, "window", ("1h",))])


def test_a_worker_that_cannot_be_scraped_for_minutes_alerts_nobody(every_rule: Path) -> None:
    """What it counted before is not counted again."""
    course = "0+100x30 stale _x5 3600+100x40"
    late = "0+99.9x30 stale _x5 3596.4+99.9x40"
    play(every_rule, _worker(course, course, late), [Fires(minute, LATE) for minute in range(0, 76, 3)])


def _judged(letters: dict[str, str], verdicts: str) -> dict[str, str]:
    own = 'job="truthgate", instance="a"'
    known = {f'truthgate_dead_letters_total{{{own}, stage="score", error_type="_OTHER"}}': "0x200"}
    kinds = {
        f'truthgate_dead_letters_total{{{own}, stage="score", error_type="{k}"}}': v
        for k, v in letters.items()
    }
    decision = 'decision="review", message_type="instruction", language="nl"'
    return known | kinds | {f"truthgate_verdicts_total{{{own}, {decision}}}": verdicts}


def test_a_burst_of_dead_letters_of_a_new_kind_alerts_and_resolves(every_rule: Path) -> None:
    """Forty come between two scrapes: their series begins with 40 and never grows. It is the first hour."""
    series = _judged({"KeyError": "_x60 40x40"}, "0+20x100")
    expected = [
        Fires(59, UNJUDGED, "window"),
        Fires(63, UNJUDGED, "window", ("1h",)),
        Fires(63, "TruthgateDeadLetters", "stage", ("score",)),
        Fires(70, UNJUDGED, "window"),
        Fires(70, "TruthgateDeadLetters", "stage", ("score",)),
        Fires(80, "TruthgateDeadLetters", "stage"),
    ]
    play(every_rule, series, expected)


def test_few_dead_letters_are_told_and_call_nobody(every_rule: Path) -> None:
    series = _judged({"KeyError": "_x20 3x40"}, "0x60")
    play(every_rule, series, [Fires(25, "TruthgateDeadLetters", values=("info",)), Fires(25, UNJUDGED)])


def test_a_worker_that_starts_again_and_again_is_told(rules: Path) -> None:
    series = {'process_start_time_seconds{job="truthgate", instance="a"}': "1x9 2x2 3x2 4x60"}
    name = "TruthgateWorkerRestarting"
    play(rules, series, [Fires(13, name), Fires(17, name, "instance", ("a",)), Fires(50, name)])


def test_no_worker_that_can_be_scraped_calls_somebody_until_one_can(rules: Path) -> None:
    series = {'up{job="truthgate", instance="a"}': "1x4 0x8 1x9", 'up{job="other", instance="b"}': "1x30"}
    name = "TruthgateWorkersAbsent"
    play(rules, series, [Fires(6, name), Fires(8, name, values=("critical",)), Fires(14, name)])


MISSING = "TruthgateWorkerMissing"


def test_a_worker_that_is_missing_is_told_by_its_name_while_others_are_there(rules: Path) -> None:
    """At minute 20 the others are gone too, which is told as that."""
    series = {f'up{{job="truthgate", instance="{name}"}}': "1x19 0x20" for name in "ab"}
    series |= {'up{job="truthgate", instance="c"}': "1x4 0x5 1x2 0x40"}
    told = [Fires(minute, MISSING, "instance", ("c",)) for minute in (10, 19)]
    play(rules, series, [*told, *(Fires(minute, MISSING) for minute in (3, 8, 12, 22))])


def test_fewer_workers_than_there_should_be_are_told_where_targets_come_and_go(tmp_path: Path) -> None:
    """A worker whose target is gone has no series that could be 0."""
    rules = _written(tmp_path, _only(MISSING, Deployment(EVERYTHING, workers=3)))
    series = {f'up{{job="truthgate", instance="{name}"}}': "1x60" for name in "ab"}
    series |= {'up{job="truthgate", instance="c"}': "1x4 stale _x20 1x30"}
    fires = [Fires(minute, MISSING, "of", ("all",)) for minute in (11, 20)]
    play(rules, series, [*fires, Fires(4, MISSING), Fires(8, MISSING), Fires(30, MISSING)])


QUIET = "TruthgateNoAnswers"


def _only(name: str, deployment: Deployment) -> tuple[RuleGroup, ...]:
    groups = all_rules(deployment)
    found = tuple(rule for group in groups for rule in group.rules if getattr(rule, "name", "") == name)
    assert found
    return (RuleGroup("only", found),)


@pytest.fixture
def quick_quiet(tmp_path: Path) -> Path:
    """Give the rule at a tenth of its times: half an hour is 3 minutes, a week 1008."""
    return _written(tmp_path, _only(QUIET, Deployment(EVERYTHING, time_scale=0.1)))


def _answers(course: str, lag: str) -> dict[str, str]:
    return _of_worker("a", answers_total=course) | {
        'truthgate_consumer_lag{job="truthgate", instance="a", partition="0"}': lag
    }


def test_answers_that_stop_coming_when_they_usually_do_are_told_until_they_come(quick_quiet: Path) -> None:
    series = _answers("0+10x1100 11000x30 11010+10x30", "0x1170")
    firing = [Fires(minute, QUIET, values=("warning",)) for minute in (1106, 1120, 1130)]
    play(quick_quiet, series, [Fires(1099, QUIET), Fires(1102, QUIET), *firing, Fires(1135, QUIET)])


def test_a_night_that_is_quiet_every_week_is_not_told(quick_quiet: Path) -> None:
    """Few came then: 3 in the half hour of the week before."""
    series = _answers("0+1x1100 1100x30", "0x1140")
    play(quick_quiet, series, [Fires(minute, QUIET) for minute in (1106, 1120)])


def test_answers_that_come_and_are_not_read_are_told_as_that_and_not_as_missing(quick_quiet: Path) -> None:
    series = _answers("0+10x1100 11000x30", "0x1100 7x40")
    play(quick_quiet, series, [Fires(minute, QUIET) for minute in (1106, 1120)])


def test_without_an_answer_of_kafka_nobody_says_that_none_come(quick_quiet: Path) -> None:
    series = _answers("0+10x1100 11000x30", "0x1140") | _of_worker("a", kafka_up="1x1100 0x40")
    play(quick_quiet, series, [Fires(minute, QUIET) for minute in (1106, 1120)])


def test_workers_that_all_wait_call_somebody_and_one_that_waits_does_not(rules: Path) -> None:
    ready = {"a": "1x4 0x18 1x9", "b": "1x9 0x30"}
    series = {
        f'truthgate_ready{{job="truthgate", instance="{name}"}}': values for name, values in ready.items()
    }
    name = "TruthgateNoWorkerReady"
    play(rules, series, [Fires(9, name), Fires(16, name, values=("critical",)), Fires(25, name)])


SILENT = "TruthgateKafkaSilent"
#: What Kafka's silence sets off besides, each told as a fault of its own.
MISLEADING = (
    "TruthgateNoWorkerReady",
    "TruthgateRatesWithoutLeader",
    "TruthgateRatesFailing",
    "TruthgatePausesUnknown",
    "TruthgatePolicyUnknown",
)


#: The policy of worker a, which is unknown then.
UNKNOWN_POLICY = 'truthgate_policy{job="truthgate", instance="a", version="settings", state="unknown"}'


def _of_worker(worker: str, **courses: str) -> dict[str, str]:
    own = f'job="truthgate", instance="{worker}"'
    return {f"truthgate_{name}{{{own}}}": course for name, course in courses.items()}


def test_silence_of_kafka_calls_somebody_once_and_nothing_else_is_told_for_it(rules: Path) -> None:
    """From minute 5 to 20; computing the rates fails all the while, and no more once Kafka is back."""
    silent = _of_worker(
        "a",
        kafka_up="1x4 0x14 1x40",
        ready="1x4 0x14 1x40",
        rates_leader="1x4 0x14 1x40",
        rates_failures_total="0x4 1+1x14 15x40",
        pauses_known="1x5 0x13 1x40",
    ) | {UNKNOWN_POLICY: "_x5 1x12 stale"}
    quiet = [Fires(minute, name) for name in MISLEADING for minute in range(2, 60, 3)]
    expected = [Fires(5, SILENT), Fires(6, SILENT, values=("critical",)), Fires(20, SILENT), *quiet]
    play(rules, silent, [*expected, Fires(19, SILENT, values=("critical",))])


def test_the_same_without_silence_of_kafka_is_told(rules: Path) -> None:
    heard = _of_worker(
        "a",
        kafka_up="1x60",
        ready="0x60",
        rates_leader="0x60",
        rates_failures_total="0x4 1+1x14 15x40",
        pauses_known="0x60",
    ) | {UNKNOWN_POLICY: "1x60"}
    told = zip(MISLEADING, ("critical", *["warning"] * 4), strict=True)
    play(rules, heard, [Fires(12, SILENT), *(Fires(12, name, values=(how,)) for name, how in told)])


def test_the_last_word_of_workers_that_ended_for_kafka_counts_until_one_runs_again(rules: Path) -> None:
    """All end at minute 8; one comes back under another name, or none."""
    name = "TruthgateWorkersAbsent"
    gone = _of_worker("a", kafka_up="1x4 0x3 stale") | _of_worker("b", kafka_up="1x4 0x3 stale")
    up = {'up{job="truthgate", instance="a"}': "1x7 0x52"}
    last = [Fires(minute, SILENT, values=("critical",)) for minute in (6, 8, 15, 20)]
    absent = [Fires(9, name), Fires(25, name, values=("critical",))]
    play(rules, gone | up, [*last, Fires(25, SILENT), *absent])
    back = _of_worker("c", kafka_up="_x12 1x40")
    play(rules, gone | back, [Fires(11, SILENT, values=("critical",)), Fires(12, SILENT)])


def test_silence_of_kafka_for_one_worker_hides_nothing_of_the_others(rules: Path) -> None:
    """Both are unready, one of them for another reason; and only the other one computes rates, and fails.

    It is for the same day: others judge the answers of the silent ones, or these wait until they restart.
    """
    series = _of_worker("a", kafka_up="0x60", ready="0x60") | _of_worker(
        "b", kafka_up="1x60", ready="0x60", rates_failures_total="0x4 1+1x14 15x40", pauses_known="0x60"
    )
    series |= _of_worker("c", kafka_up="0x60", pauses_known="0x60")
    expected = [Fires(12, SILENT, values=("warning",)), Fires(12, MISLEADING[0], values=("critical",))]
    expected += [Fires(12, MISLEADING[3], "instance", ("b",))]
    play(rules, series, [*expected, Fires(12, MISLEADING[2], values=("warning",))])


def test_a_partition_that_stands_still_calls_somebody_until_it_moves(rules: Path) -> None:
    own = 'job="truthgate", instance="a"'
    series = {
        f'truthgate_consumer_lag{{{own}, partition="0"}}': "5x20",
        f'truthgate_commit_age_seconds{{{own}, partition="0"}}': "0 60 120 180 0x20",
        f'truthgate_consumer_lag{{{own}, partition="1"}}': "0x20",
        f'truthgate_commit_age_seconds{{{own}, partition="1"}}': "0+60x20",
    }
    name = "TruthgateNoCommit"
    play(rules, series, [Fires(1, name), Fires(2, name, "partition", ("0",)), Fires(4, name)])


def test_partitions_without_an_owner_call_somebody_whoever_was_killed(rules: Path) -> None:
    name, label = "TruthgateNoCommit", "partition"
    survivor = _of_worker("a", ready="1x30", kafka_up="1x30")
    reported = 'job="truthgate", instance="a", partition="{}"'
    lag = {
        f"truthgate_consumer_lag{{{reported.format(0)}}}": "0x30",
        'truthgate_consumer_lag{job="truthgate", instance="b", partition="1"}': "0x4 stale",
        f"truthgate_group_lag{{{reported.format(0)}}}": "0x30",
        f"truthgate_group_lag{{{reported.format(1)}}}": "0x4 0+60x5 0x20",
        f"truthgate_group_commit_age_seconds{{{reported.format(1)}}}": "0x4 0+60x5 0x20",
    }
    expected = [Fires(6, name, label), Fires(8, name, label, ("1",)), Fires(12, name, label)]
    play(rules, survivor | lag, expected)
    # Nobody reports while it is the owner of partition 0 that was killed.
    silent = {
        'truthgate_group_lag{job="truthgate", instance="b", partition="0"}': "0x4 stale",
        f"truthgate_group_lag{{{reported.format(0)}}}": "_x12 0x20",
    }
    expected = [Fires(6, name, label), Fires(8, name, label, ("0",)), Fires(14, name, label)]
    play(rules, survivor | silent, expected)
    unready = _of_worker("a", ready="0x30", kafka_up="1x30")
    served = _of_worker("a", ready="1x30")
    for others in (unready, served):
        play(rules, others, [Fires(minute, name, label) for minute in (3, 8, 20)])


@pytest.mark.parametrize("metric", ["truthgate_group_lag", "truthgate_consumer_lag"])
def test_answers_that_pile_up_are_told_and_a_peak_that_is_worked_off_is_not(rules: Path, metric: str) -> None:
    name = "TruthgateLagGrowing"
    lag = metric + '{job="truthgate", instance="a", partition="0"}'
    play(rules, {lag: "0+100x60"}, [Fires(10, name), Fires(40, name, values=("warning",))])
    play(rules, {lag: "0+500x10 5000-200x20 0x60"}, [Fires(minute, name) for minute in range(0, 80, 5)])


def test_answers_that_pile_up_in_a_partition_that_nobody_owns_are_told(rules: Path) -> None:
    owned = 'truthgate_consumer_lag{job="truthgate", instance="a", partition="0"}'
    orphan = 'truthgate_group_lag{job="truthgate", instance="a", partition="1"}'
    expected = [Fires(40, "TruthgateLagGrowing", values=("warning",))]
    play(rules, {owned: "0x60", orphan: "0+100x60"}, expected)


def test_a_queue_of_reviewers_that_grows_is_told_and_one_that_is_worked_off_is_not(rules: Path) -> None:
    name = "TruthgateReviewQueueGrowing"
    waiting = 'truthgate_desk_waiting{job="truthgate-desk", instance="d"}'
    play(rules, {waiting: "0+2x100"}, [Fires(30, name), Fires(60, name, values=("warning",))])
    play(rules, {waiting: "0+5x10 50-2x25 0x70"}, [Fires(minute, name) for minute in range(0, 100, 10)])
    play(rules, {waiting: "0+0.1x100"}, [Fires(90, name)])


def test_an_answer_that_is_about_to_expire_is_told(rules: Path) -> None:
    name, used = "TruthgateReviewTooLate", 'truthgate_desk_time_used{job="truthgate-desk", instance="d"}'
    expected = [Fires(5, name), Fires(12, name, values=("warning",)), Fires(25, name)]
    play(rules, {used: "0.5x9 0.9x10 0x20"}, expected)


def test_a_pause_that_nobody_ends_is_reported_after_hours_with_its_scope(rules: Path) -> None:
    own = 'job="truthgate", instance="{}", message_type="{}", language="all"'
    series = {
        f"truthgate_pauses{{{own.format('a', 'instruction')}}}": "1x260 stale",
        f"truthgate_pauses{{{own.format('b', 'instruction')}}}": "1x250 stale",
        f"truthgate_pauses{{{own.format('a', 'error')}}}": "1x100 stale",
    }
    name, kind = "TruthgateSendingPaused", "message_type"
    expected = [
        Fires(239, name, kind),
        Fires(241, name, kind, ("instruction",)),
        Fires(241, name, values=("info",)),
        Fires(255, name, kind, ("instruction",)),
        Fires(262, name, kind),
    ]
    play(rules, series, expected)


def test_a_worker_that_does_not_know_the_pauses_is_named_until_it_does(rules: Path) -> None:
    known = {"a": "1x30", "b": "1x4 0x1 1x3 0x9 1x20"}
    series = {
        f'truthgate_pauses_known{{job="truthgate", instance="{name}"}}': values
        for name, values in known.items()
    }
    name, worker = "TruthgatePausesUnknown", "instance"
    expected = [Fires(9, name, worker), Fires(13, name, worker, ("b",)), Fires(22, name, worker)]
    play(rules, series, expected)


def test_a_worker_that_does_not_know_the_policy_is_named_until_it_does(rules: Path) -> None:
    own, name = 'job="truthgate", instance="b", version="settings"', "TruthgatePolicyUnknown"
    series = {
        f'truthgate_policy{{{own}, state="active"}}': "1x4 _x9 1x20",
        f'truthgate_policy{{{own}, state="unknown"}}': "_x4 1x9 _x20",
    }
    expected = [Fires(4, name, "instance"), Fires(7, name, "instance", ("b",)), Fires(20, name, "instance")]
    play(rules, series, expected)


def test_a_policy_that_is_withdrawn_for_a_group_is_told_until_one_is_approved(rules: Path) -> None:
    own, name = 'job="truthgate", instance="b", group="instruction nl"', "TruthgatePolicyWithdrawn"
    series = {f"truthgate_policy_withdrawn{{{own}}}": "_x4 1x9 _x20"}
    group = ("instruction nl",)
    expected = [Fires(3, name, "group"), Fires(6, name, "group", group), Fires(20, name, "group")]
    play(rules, series, expected)


def test_drift_of_an_hour_from_what_a_policy_was_fitted_to_is_told(rules: Path) -> None:
    own, name = 'job="truthgate-desk", instance="b"', "TruthgatePolicyDrift"
    series = {
        f'truthgate_policy_drift{{{own}, input="score"}}': "0.1x9 0.4x80 0.1x60",
        f'truthgate_policy_drift{{{own}, input="length"}}': "0.1x9 0.4x50 0.1x90",
    }
    expected = [Fires(60, name, "input"), Fires(75, name, "input", ("score",)), Fires(100, name, "input")]
    play(rules, series, expected)


def test_scoring_processes_without_room_are_told(rules: Path) -> None:
    own = 'job="truthgate", instance="a"'
    series = {
        f"truthgate_scoring_processes{{{own}}}": "4x60",
        f"truthgate_scoring_processes_busy{{{own}}}": "4x30 1x30",
        f"truthgate_scoring_queue{{{own}}}": "9x30 0x30",
    }
    name = "TruthgateScoringSaturated"
    play(rules, series, [Fires(5, name), Fires(15, name, values=("warning",)), Fires(45, name)])


def test_a_check_that_is_missing_from_most_verdicts_is_told_by_its_code(rules: Path) -> None:
    own = 'job="truthgate", instance="a"'
    series = {
        f'truthgate_degraded_total{{{own}, code="context_missing"}}': "0+5x60",
        f'truthgate_degraded_total{{{own}, code="language_unsupported"}}': "0+1x60",
        f'truthgate_verdicts_total{{{own}, decision="review", message_type="other", language=""}}': "0+10x60",
    }
    name = "TruthgateDegradedShare"
    play(rules, series, [Fires(30, name, "code", ("context_missing",))])


def test_a_breaker_that_tries_now_and_then_is_still_open(rules: Path) -> None:
    """Every other minute it is half open, to try one call."""
    own = 'job="truthgate", instance="a"'
    series = {f'truthgate_translation_breaker{{{own}, state="open"}}': "0x4 1 0 1 0 1 0 1 0 1 0 1 0x20"}
    name = "TruthgateTranslationBreakerOpen"
    play(rules, series, [Fires(6, name), Fires(12, name, values=("warning",)), Fires(20, name)])


def _requests(**outcomes: str) -> dict[str, str]:
    """Give requests to a judge, by what became of them; a reply has no error."""
    name = "gen_ai_client_operation_duration_seconds_count"
    own = 'job="truthgate", instance="a", gen_ai_request_model="gpt-small"'
    return {
        f'{name}{{{own}, error_type="{"" if outcome == "reply" else outcome}"}}': values
        for outcome, values in outcomes.items()
    }


def test_a_judge_that_fails_is_told_by_its_model_and_one_that_stumbles_is_not(rules: Path) -> None:
    """Its breaker opens after a while; then all is well again."""
    name, model = "TruthgateJudgeFailing", "gen_ai_request_model"
    away = _requests(
        reply="0+10x20 200x20 200+10x40",
        connection_refused="_x20 0+2x3 6x60",
        breaker_open="_x23 0+10x17 170x40",
    )
    expected = [
        Fires(20, name, model),
        Fires(30, name, model, ("gpt-small",)),
        Fires(30, "TruthgateJudgeSlow", model),
        Fires(60, name, model),
    ]
    play(rules, away, expected)
    play(rules, _requests(reply="0+10x60", server_error="0+0.5x60"), [Fires(40, name, model)])
    play(rules, _requests(reply="0x60", server_error="0x9 4x60"), [Fires(20, name, model)])


def test_a_judge_that_is_too_slow_is_told_as_such(rules: Path) -> None:
    name, model = "TruthgateJudgeSlow", "gen_ai_request_model"
    slow = _requests(reply="0+10x60", timeout="0x20 0+2x20 40x40", busy="0x20 0+2x20 40x40")
    expected = [
        Fires(20, name, model),
        Fires(40, name, model, ("gpt-small",)),
        Fires(40, "TruthgateJudgeFailing", model),
        Fires(60, name, model),
    ]
    play(rules, slow, expected)


def test_opinions_that_cannot_be_used_are_told_by_their_method_and_unsure_ones_are_not(rules: Path) -> None:
    own = 'job="truthgate", instance="a"'
    series = {
        f'truthgate_opinions_total{{{own}, method="{method}", says="{says}"}}': values
        for method, says, values in (
            ("cot", "TRUE", "0+3x60"),
            ("cot", "malformed", "0+1x30 30x30"),
            ("cot", "cut_off", "0+1x30 30x30"),
            ("single", "TRUE", "0+3x60"),
            ("single", "disagreement", "0+3x60"),
            ("single", "malformed", "0+0.2x60"),
        )
    }
    name = "TruthgateOpinionsMalformed"
    play(rules, series, [Fires(4, name), Fires(30, name, "method", ("cot",)), Fires(50, name, "method")])


def test_a_budget_that_is_nearly_spent_is_told_for_all_workers_together_until_the_next_day(
    rules: Path,
) -> None:
    """Of 1,000 requests 90 are left, half of them on each worker; tokens are left in plenty."""
    left = "truthgate_judge_budget_left"
    series = {
        f'{left}{{job="truthgate", instance="{worker}", window="day", of="{of}"}}': values
        for worker in "ab"
        for of, values in (("requests", "500x9 45x20 500x20"), ("tokens", "600000x60"))
    }
    minute = {f'{left}{{job="truthgate", instance="a", window="minute", of="requests"}}': "0x60"}
    name = "TruthgateJudgeBudgetNearlySpent"
    expected = [Fires(9, name), Fires(12, name), Fires(20, name, "of", ("requests",)), Fires(32, name)]
    play(rules, series | minute, [*expected, Fires(20, name, values=("info",))])


def test_answers_that_are_not_asked_about_are_told_by_their_priority(rules: Path) -> None:
    own = 'job="truthgate", instance="a"'
    series = {
        f'truthgate_judge_budget_refusals_total{{{own}, priority="first"}}': "0+0.5x60",
        f'truthgate_judge_budget_refusals_total{{{own}, priority="second"}}': "0x9 0+2x20 40x40",
    }
    name = "TruthgateJudgeBudgetSpent"
    expected = [Fires(9, name), Fires(30, name, "priority", ("second",)), Fires(60, name, "priority")]
    play(rules, series, expected)


def test_documents_that_cannot_be_confirmed_are_told(rules: Path) -> None:
    own = 'job="truthgate", instance="a"'
    series = {f'truthgate_degraded_total{{{own}, code="documents_stale"}}': "0x4 0+1x20 20x40"}
    name = "TruthgateDocumentsStale"
    play(rules, series, [Fires(4, name), Fires(15, name, values=("warning",)), Fires(50, name)])


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("truthgate_retrieval_index_failures_total", "TruthgateRetrievalIndexFailing"),
        ("truthgate_company_terms_failures_total", "TruthgateCompanyTermsFailing"),
        ('truthgate_rates_failures_total{error_type="KafkaTimeoutError"}', "TruthgateRatesFailing"),
    ],
)
def test_what_fails_again_and_again_is_told_and_what_failed_once_is_not(
    rules: Path, metric: str, name: str
) -> None:
    bare, _, labels = metric.rstrip("}").partition("{")
    series = f'{bare}{{{labels + ", " if labels else ""}job="truthgate", instance="a"}}'
    play(rules, {series: "0x9 1x30"}, [Fires(12, name, "job")])
    play(rules, {series: "0x9 0+1x9 9x40"}, [Fires(16, name, "job", ("truthgate",)), Fires(50, name, "job")])


def test_a_leader_that_cannot_read_a_verdict_pages_somebody_and_is_told_by_that_alone(rules: Path) -> None:
    labels = 'error_type="unreadable_verdict", job="truthgate", instance="a"'
    series = {f"truthgate_rates_failures_total{{{labels}}}": "0x9 0+2x20 40x40"}
    name = "TruthgateRatesUnreadable"
    play(
        rules, series, [Fires(9, name, "job"), Fires(15, name, values=("critical",)), Fires(45, name, "job")]
    )
    play(rules, series, [Fires(20, "TruthgateRatesFailing", "job")])


def test_bad_documents_are_told(rules: Path) -> None:
    series = {'truthgate_bad_documents_total{job="truthgate", instance="a"}': "0x9 1x40"}
    name = "TruthgateBadDocuments"
    play(rules, series, [Fires(9, name), Fires(12, name, values=("info",)), Fires(40, name)])


def test_verdicts_that_nobody_counts_are_told(rules: Path) -> None:
    own = 'job="truthgate", instance="a"'
    series = {
        f"truthgate_rates_lag{{{own}}}": "0x9 50x30",
        f'truthgate_rates_verdicts_total{{{own}, outcome="counted"}}': "0+10x9 90x30",
    }
    name = "TruthgateRatesStandStill"
    play(rules, series, [Fires(12, name), Fires(25, name, values=("warning",))])


def test_a_watermark_that_stays_ahead_of_the_clock_is_told_until_the_clock_has_come_to_it(
    rules: Path,
) -> None:
    """It is half a minute ahead, then ten; another deployment's does not matter."""
    name, metric = "TruthgateRatesAhead", "truthgate_rates_watermark_age_seconds"
    series = {
        f'{metric}{{job="truthgate", instance="a"}}': "-30x9 -600+30x30",
        f'{metric}{{job="other", instance="b"}}': "-600x40",
    }
    expected = [
        Fires(9, name),
        Fires(13, name),  # pending
        Fires(16, name, values=("warning",)),
        Fires(27, name, values=("warning",)),
        Fires(29, name),  # a minute and less
    ]
    play(rules, series, expected)


def test_a_watermark_that_jumps_ahead_for_a_moment_alerts_nobody(rules: Path) -> None:
    series = {'truthgate_rates_watermark_age_seconds{job="truthgate", instance="a"}': "5x4 -600x3 5x20"}
    play(rules, series, [Fires(minute, "TruthgateRatesAhead") for minute in (4, 7, 8, 9, 20)])


def test_dead_letters_alert_until_they_are_replayed_or_discarded(rules: Path) -> None:
    """Every worker counts the same ones; one of them may not ask."""
    name = "TruthgateDeadLettersWaiting"
    series = _of_worker("a", dead_letters_waiting="0x9 3x170 1x50 0x20") | _of_worker(
        "b", dead_letters_waiting="0x10 3x170 1x50 0x20"
    )
    firing = [Fires(minute, name, values=("warning",)) for minute in (72, 170, 200)]
    play(rules, series, [Fires(60, name), *firing, Fires(240, name)])


def test_a_group_that_rebalances_again_and_again_alerts_and_an_upgrade_does_not(rules: Path) -> None:
    """Two workers: each leaves and joins once in an upgrade, and the group rebalances four times."""
    workers = {f'up{{job="truthgate", instance="{name}"}}': "1x80" for name in ("a", "b")}
    series, alert = 'truthgate_rebalances_total{job="truthgate", instance="a"}', "TruthgateRebalancingOften"
    again = [Fires(5, alert), Fires(20, alert, values=("warning",)), Fires(60, alert)]
    play(rules, workers | {series: "0+1x20 20x60"}, again)
    play(rules, workers | {series: "0+1x4 4x60"}, [Fires(minute, alert) for minute in (5, 20, 40)])


def test_a_certificate_alerts_for_two_weeks_before_it_expires(rules: Path) -> None:
    series = 'truthgate_kafka_certificate_end_seconds{job="truthgate", instance="a"}'
    in_two_weeks_and_an_hour = str(14 * 86_400 + 3_600)
    expected = [
        Fires(55, "TruthgateCertificateExpires"),
        Fires(65, "TruthgateCertificateExpires", values=("warning",)),
    ]
    play(rules, {series: f"{in_two_weeks_and_an_hour}x90"}, expected)
