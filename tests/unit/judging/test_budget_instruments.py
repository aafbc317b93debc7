"""The metrics of the budget show what is used, left and refused."""

import structlog
from prometheus_client import generate_latest

from streams.llm.budget import Budget, BudgetAmount, BudgetMetrics, Limit, Limits, Priority
from streams.observability.instruments import Instruments
from tests.support.clock import Clock


def test_metrics_show_what_is_used_left_and_refused():
    instruments = Instruments()
    instruments.begin_section("Judges")
    telemetry, clock = BudgetMetrics(instruments), Clock()
    budget = Budget(Limits(Limit(10), Limit(None, 500)), clock, observer=telemetry)
    telemetry.watch(budget)
    budget.assign([0], 1)
    budget.reserve(BudgetAmount(8, 100), Priority.FIRST).settle(BudgetAmount(6, 90))
    budget.reserve(BudgetAmount(1, 100), Priority.SECOND)
    with structlog.testing.capture_logs() as lines:
        telemetry.write_failed("ENOSPC")
        telemetry.write_failed("ENOSPC")
    page = generate_latest(instruments.registry).decode()
    assert 'truthgate_judge_budget_used_total{of="requests"} 6.0' in page
    assert 'truthgate_judge_budget_used_total{of="tokens"} 90.0' in page
    assert 'truthgate_judge_budget_left{of="requests",window="minute"}' in page
    assert 'truthgate_judge_budget_left{of="tokens",window="day"}' in page
    assert 'truthgate_judge_budget_refusals_total{priority="first"} 0.0' in page
    assert 'truthgate_judge_budget_errors_total{error_type="ENOSPC"} 2.0' in page
    assert lines == [
        {
            "event": "judge_budget_not_stored",
            "error_type": "ENOSPC",
            "setting": "documents.store",
            "log_level": "warning",
        }
    ]
    clock.now += 60
    assert 'left{of="requests",window="minute"} 10.0' in generate_latest(instruments.registry).decode()
    instruments.close(1)
