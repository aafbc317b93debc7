"""An alert fires while its last record says so."""

from streams.web.page_data import FiringAlerts
from tests.support.pages import rate_alert


def test_an_alert_fires_until_it_is_resolved_and_once():
    alerts = FiringAlerts()
    alerts.add(rate_alert())
    alerts.add(rate_alert())
    (firing,) = alerts.firing
    assert (firing.name, firing.window, firing.threshold, firing.low) == ("high-rate", 300, 0.2, 0.31)
    alerts.add(rate_alert("resolved"))
    assert alerts.firing == ()


def test_alerts_of_different_types_are_apart():
    alerts = FiringAlerts()
    alerts.add(rate_alert(message_type="instruction"))
    alerts.add(rate_alert(message_type="binary"))
    alerts.add(rate_alert("resolved", message_type="binary"))
    assert [firing.message_type for firing in alerts.firing] == ["instruction"]


def test_however_many_records_come_their_number_is_bounded():
    alerts = FiringAlerts()
    for number in range(2_000):
        alerts.add(rate_alert(name=f"n-{number}"))
    assert len(alerts.firing) == 500
