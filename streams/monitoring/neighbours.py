"""Alerts on what works beside the answers: documents, their index, the translator, and the rates."""

from __future__ import annotations

from collections.abc import Iterator

from streams.monitoring.deployment import Deployment, duration
from streams.monitoring.kafka import but_for_silence, unless_kafka_is_silent
from streams.monitoring.rules import Alert, Group

#: From so many in a quarter of an hour on it is no hiccup; what fails is tried again by itself.
_FAILURES = 3
_QUARTER_SECONDS = 900.0
#: Clocks of hosts differ by less, in seconds.
_AHEAD = 60


def neighbour_rules(deployment: Deployment) -> Group:
    """Give the alerts; those about rates only where rates are counted."""
    rates = _rates(deployment) if deployment.settings.rates.enabled else ()
    return Group("truthgate-neighbours", (*_documents(deployment), *rates))


def _documents(deployment: Deployment) -> Iterator[Alert]:
    increase = deployment.increase
    stale = increase("truthgate_degraded_total", 'code="documents_stale"')
    yield Alert(
        name="TruthgateDocumentsStale",
        expression=f"{stale} > 0",
        hold=deployment.minutes(5),
        summary="Help documents may be out of date",
        description="A worker could not confirm its copy of the documents for "
        f"{duration(deployment.settings.documents.stale_after_seconds)} (documents.stale_after_seconds): "
        "its answers go to review.",
    )
    yield Alert(
        name="TruthgateBadDocuments",
        expression=f"{increase('truthgate_bad_documents_total')} > 0",
        severity="info",
        summary="Help documents are published that cannot be read",
        description="{{ $value | humanize }} in 15 minutes, counted by every worker. Each takes the older "
        "version of its document away, so answers that rest on it go to review.",
    )
    yield Alert(
        name="TruthgateRetrievalIndexFailing",
        expression=f"{increase('truthgate_retrieval_index_failures_total')} >= {_FAILURES}",
        summary="The index of the documents cannot be brought up to date",
        description="{{ $value | humanize }} failures in 15 minutes. Answers that bring no context are "
        "judged by an index that is behind, and go to review.",
    )
    yield Alert(
        name="TruthgateCompanyTermsFailing",
        expression=f"{increase('truthgate_company_terms_failures_total')} >= {_FAILURES}",
        severity="info",
        summary="The company's own words cannot be brought up to date",
        description="{{ $value | humanize }} failures in 15 minutes. Answers are judged by the words that "
        "were known before.",
    )
    # It is half open now and then, to try one call: that is no recovery.
    opened = deployment.over("max_over_time", "truthgate_translation_breaker", 120, 'state="open"')
    yield Alert(
        name="TruthgateTranslationBreakerOpen",
        expression=f"{deployment.by('max', opened)} == 1",
        hold=deployment.minutes(5),
        summary="The translator does not answer",
        description="Answers are judged untranslated, degraded translation_unavailable, and go to review.",
    )


def _rates(deployment: Deployment) -> Iterator[Alert]:
    increase = deployment.increase
    leaders = deployment.by("sum", deployment.series("truthgate_rates_leader"))
    yield Alert(
        name="TruthgateRatesWithoutLeader",
        expression=unless_kafka_is_silent(deployment, f"{leaders} == 0"),
        hold=deployment.minutes(5),
        summary="No worker counts the rates",
        description="Hallucination rates and their alerts stand still; answers are judged all the same.",
    )
    waiting = deployment.by("max", deployment.series("truthgate_rates_lag"))
    yield Alert(
        name="TruthgateRatesStandStill",
        expression=f"{waiting} > 0 and {increase('truthgate_rates_verdicts_total', minutes=5)} == 0",
        hold=deployment.minutes(5),
        summary="Verdicts wait to be counted",
        description="{{ $value | humanize }} wait, and none was counted for 5 minutes: hallucination rates "
        "and their alerts stand still. Answers are judged all the same.",
    )
    failures = deployment.over("increase", "truthgate_rates_failures_total", _QUARTER_SECONDS)
    failures = deployment.by("sum", but_for_silence(deployment, failures, _QUARTER_SECONDS))
    yield Alert(
        name="TruthgateRatesFailing",
        expression=f"{failures} >= {_FAILURES}",
        summary="Counting the rates fails again and again",
        description="{{ $value | humanize }} failures in 15 minutes. Rates come late, and are exact again "
        "once it works. Answers are judged all the same.",
    )
    age = deployment.by("min", deployment.series("truthgate_rates_watermark_age_seconds"))
    yield Alert(
        name="TruthgateRatesAhead",
        expression=f"{age} < -{_AHEAD}",
        hold=deployment.minutes(5),
        summary="The rates are ahead of the clock",
        description="The age of their watermark is {{ $value | humanizeDuration }}: a clock is or was wrong. "
        "Windows close before their time, and their verdicts come as late corrections, which "
        "alerts.thresholds do not see. Answers are judged all the same.",
    )
