"""What the tests in a cluster count and choose, without a cluster."""

from ipaddress import IPv4Network

from tests.support.cluster.network import unused
from tests.support.cluster.pauses import longest


def test_pods_get_a_network_that_this_machine_has_no_route_to():
    first = unused([])
    assert unused([IPv4Network("192.168.0.0/16")]) == first
    assert not unused([first]).overlaps(first)
    assert not unused([IPv4Network(f"{first[0]}/15", strict=False)]).overlaps(first)


def test_a_pause_begins_with_the_answer_or_with_the_verdict_before_it():
    came_late = [(100, 90), (5_000, 4_990)]
    assert longest(came_late) == 10
    waited = [(100, 90), (5_000, 200), (5_100, 300)]
    assert longest(waited) == 4_800
