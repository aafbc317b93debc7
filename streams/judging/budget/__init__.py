"""The budget for asking language models: how much may be spent on it, and what was."""

from streams.judging.budget.amounts import Amount, Limit, Limits
from streams.judging.budget.asking import ask_within
from streams.judging.budget.budget import Budget, Priority, Reservation
from streams.judging.budget.opening import open_budget

__all__ = [
    "Amount",
    "Budget",
    "Limit",
    "Limits",
    "Priority",
    "Reservation",
    "ask_within",
    "open_budget",
]
