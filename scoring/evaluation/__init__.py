"""The quality of the scorer, by the tables of the paper's section VI; needs scipy."""

from scoring.evaluation.agreement import Agreement, agreement
from scoring.evaluation.cases import RATINGS, Case, Group
from scoring.evaluation.correlation import Correlation, CountedOut, Gain, correlation, gain
from scoring.evaluation.decisions import DecisionRow, DecisionTable, decision_table
from scoring.evaluation.deviation import Deviation, RatingRow, deviation
from scoring.evaluation.features import FeatureRow, FeatureTable, feature_table
from scoring.evaluation.message_types import TypeRow, TypeTable, type_table
from scoring.evaluation.report import Report, Run, report
from scoring.evaluation.routing import Routing, RoutingRow, routing
from scoring.evaluation.statistics import Estimate, Share

__all__ = [
    "RATINGS",
    "Agreement",
    "Case",
    "Correlation",
    "CountedOut",
    "DecisionRow",
    "DecisionTable",
    "Deviation",
    "Estimate",
    "FeatureRow",
    "FeatureTable",
    "Gain",
    "Group",
    "RatingRow",
    "Report",
    "Routing",
    "RoutingRow",
    "Run",
    "Share",
    "TypeRow",
    "TypeTable",
    "agreement",
    "correlation",
    "decision_table",
    "deviation",
    "feature_table",
    "gain",
    "report",
    "routing",
    "type_table",
]
