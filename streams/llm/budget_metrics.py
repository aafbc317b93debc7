"""Metrics of the budget."""

import structlog

from streams.llm.budget import Budget, BudgetAmount, BudgetObserver, Priority
from streams.observability.instruments import ERROR_TYPE, OTHER, Instruments, MetricLabel

log = structlog.get_logger(__name__)

_OF = MetricLabel("of", ("requests", "tokens"))


class BudgetMetrics(BudgetObserver):
    """The instruments of the budget; nothing is left to show where it has no limits."""

    def __init__(self, instruments: Instruments) -> None:
        self._used = instruments.counter(
            "truthgate.judge_budget_used",
            "What this worker used to ask for opinions: requests, and tokens of requests and replies.",
            "`judges.budget`; `gen_ai_client_token_usage` by model.",
            _OF,
        )
        self._left = instruments.gauge(
            "truthgate.judge_budget_left",
            "What is left of this worker's share of the budget in the present minute and day of UTC, for "
            "each limit that is set; 0 while it has no partitions.",
            "0: answers in doubt go to review, degraded judge_budget_spent; `judges.budget`.",
            MetricLabel("window", ("minute", "day")),
            _OF,
        )
        self._refused = instruments.counter(
            "truthgate.judge_budget_refusals",
            "Opinions that were not asked for since too little was left: first are those where both labels "
            "can decide, second where one can.",
            "`truthgate_judge_budget_left`; `judges.budget`; what the policy names in doubt.",
            MetricLabel("priority", tuple(Priority)),
            unit="{opinion}",
        )
        self._errors = instruments.counter(
            "truthgate.judge_budget_errors",
            "Times that what was spent could not be noted; a restart would spend it again.",
            "The log line `judge_budget_not_kept`; disk space and permissions at `documents.store`.",
            ERROR_TYPE,
            at_zero=[(OTHER,)],
        )

    def watch(self, budget: Budget) -> None:
        """Show what is left of this budget."""
        self._left.set_labelled_function(budget.remaining)

    def used(self, amount: BudgetAmount) -> None:
        """Count what was used."""
        self._used.add("requests", number=amount.requests)
        self._used.add("tokens", number=amount.tokens)

    def refused(self, priority: str) -> None:
        """Count the refusal."""
        self._refused.add(priority)

    def write_failed(self, error: str) -> None:
        """Count the error, and log each kind of it once."""
        if self._errors.add_and_check_first(error):
            log.warning("judge_budget_not_kept", error_type=error, setting="documents.store")
