"""The watch on truthgate from outside: Prometheus' rules, a Grafana dashboard, and the runbook for both."""
