"""Whatever the Python and its order of hashes: the sample has the same verdicts."""

from copy import deepcopy

from tests.support.sample_verdicts import changes, expected, found


def test_the_verdicts_on_the_sample_are_the_expected_ones():
    changed = changes(expected(), found())
    assert not changed, "\n".join(["if so meant: `python -m tests.support.sample_verdicts`", *changed])


def test_each_value_that_is_another_is_told_with_its_place():
    before = expected()
    now = deepcopy(before)
    now[3]["claims"][1]["status"] = "supported"
    now[3]["features"][0]["value"] = 0.5
    now[3]["reasons"] = []
    assert changes(before, now) == [
        "nl a-010.reasons.0: 'undefined_component' → 'absent'",
        "nl a-010.features.claims_covered.value: 0.6567 → 0.5",
        "nl a-010.claims.1.status: 'not_found' → 'supported'",
        "nl a-010.reasons: 'absent' → []",
    ]
