"""The Grafana dashboard, as code. Needs the extra ``monitoring``."""

from streams.monitoring.dashboard.whole import dashboard, to_json

__all__ = ["dashboard", "to_json"]
