"""What is parsed of documents is kept beside them by a worker, and counted, logged and bounded."""

from pathlib import Path

import pytest
import structlog
from prometheus_client import generate_latest

from scoring.scorer.scorer import ScorerOptions
from scoring.values.scored_answer import CacheUse
from streams.observability.instruments import Instruments
from streams.scorers.options import scorer_options, worker_options
from streams.scorers.scorer_metrics import ParseCacheMetrics
from streams.settings import DocumentSettings, ScoringSettings, Settings


def options(**scoring: object) -> ScorerOptions:
    documents = DocumentSettings(store=Path("/documents"))
    return worker_options(Settings(documents=documents, scoring=ScoringSettings.model_validate(scoring)))


def test_a_worker_keeps_what_it_prepares_beside_its_documents():
    assert options().parse_cache == Path("/documents/prepared.sqlite3")
    assert options().parse_cache_mib == 500


def test_the_bound_can_be_set():
    assert options(parse_cache_mib=7).parse_cache_mib == 7


def test_nothing_is_kept_where_there_is_no_room():
    assert options(parse_cache_mib=0).parse_cache is None


def test_a_command_that_scores_a_file_keeps_nothing():
    assert scorer_options(Settings()).parse_cache is None


@pytest.mark.parametrize("mib", [-1, 10_000_000])
def test_a_bound_that_is_a_slip_is_refused(mib):
    with pytest.raises(ValueError, match="parse_cache_mib"):
        options(parse_cache_mib=mib)


def test_documents_are_counted_by_where_they_were_and_each_kind_of_failure_is_logged_once():
    instruments = Instruments()
    instruments.begin_section("Scoring")
    telemetry = ParseCacheMetrics(instruments)
    with structlog.testing.capture_logs() as lines:
        telemetry.count(CacheUse(hits=3, misses=1, disk_hits=2))
        telemetry.count(CacheUse(failures=("SQLITE_FULL", "SQLITE_FULL", "REPLACED")))
        telemetry.count(CacheUse(failures=("SQLITE_FULL",)))
    assert [(line["event"], line["error_type"], line["log_level"]) for line in lines] == [
        ("prepared_file_failed", "SQLITE_FULL", "warning"),
        ("prepared_file_failed", "REPLACED", "warning"),
    ]
    shown = generate_latest(instruments.registry).decode()
    for line in (
        'truthgate_prepared_documents_total{cache="memory"} 3.0',
        'truthgate_prepared_documents_total{cache="disk"} 2.0',
        'truthgate_prepared_documents_total{cache="miss"} 1.0',
        'truthgate_prepared_file_errors_total{error_type="SQLITE_FULL"} 3.0',
    ):
        assert line in shown
