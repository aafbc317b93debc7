"""A fitted policy goes through its record unchanged, and what nobody can decide by is refused."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas import Codec, PolicyChange
from scoring.policy.asking import ASKING_MODEL, AskingOrder
from scoring.policy.certificates import FittedThresholds, Promise
from scoring.policy.risk import RiskModel
from scoring.values.exchange import Decision
from streams.reviews.policy_records import (
    CODEC,
    Change,
    UnreadableChange,
    key_version,
    new_version,
    policy_key,
    read_change,
    to_content,
    to_fitted,
)
from tests.support.pauses import raw_record
from tests.support.policies import a_certificate, a_change, a_fitted_policy, change_record
from tests.support.record_strategies import ANSWER

shares = st.floats(0, 1)
inner_shares = st.floats(0.001, 0.999)
counts = st.integers(0, 10**9)
moments = st.integers(0, 4 * 10**12)
names = st.text("abc :+=é", min_size=1, max_size=8)
models = st.builds(
    RiskModel,
    names,
    st.floats(-50, 50),
    st.lists(st.tuples(names, st.floats(-50, 50)), max_size=5).map(tuple),
)


@st.composite
def fitted_policies(draw: st.DrawFn) -> FittedThresholds:
    model = draw(models)
    certificates = st.builds(
        lambda **values: a_certificate(model, **values),
        decision=st.sampled_from([Decision.AUTO_SEND, Decision.BLOCKED]),
        groups=st.lists(names, max_size=4).map(tuple),
        threshold=shares,
        promise=st.builds(Promise, inner_shares, st.floats(0.5, 0.999), inner_shares),
        delta=st.floats(0.001, 0.5),
        answers=counts,
        coverage=shares,
        ratings=counts,
        mistakes=counts,
        estimate=shares,
        bound=shares,
        first=moments,
        last=moments,
        data=names,
        versions=st.lists(names, max_size=4).map(tuple),
        max_documents_changed=shares,
    )
    asking = st.builds(AskingOrder, models.map(lambda each: replace(each, name=ASKING_MODEL)), shares, shares)
    found = tuple(draw(st.lists(certificates, max_size=3)))
    return FittedThresholds(model, found, draw(st.none() | asking))


@given(fitted_policies())
def test_what_is_read_is_what_was_written(fitted):
    change = a_change("v", Change.PROPOSED, fitted=fitted)
    read = read_change(change_record(change))
    assert read == change
    assert read.content is not None
    assert to_fitted(read.content) == fitted


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decision": "review"}, "no certificate is needed"),
        ({"decision": "sent_later"}, "sent_later"),
        ({"alpha": 0.0}, "alpha and delta"),
        ({"model": "other+12345678"}, "another risk model"),
        ({"delta_spent": 0.0}, "a part of its delta"),
        ({"delta_spent": 0.06}, "a part of its delta"),
    ],
)
def test_content_that_nobody_can_decide_by_is_refused(change, message):
    content = to_content(a_fitted_policy())
    (certificate,) = content.certificates
    with pytest.raises(ValueError, match=message):
        to_fitted(replace(content, certificates=(replace(certificate, **change),)))


@pytest.mark.parametrize(
    ("key", "value", "error_type"),
    [
        (b"v/approved", b"nonsense", "unknown_format"),
        (b"v/approved", Codec().encode(ANSWER), "wrong_record"),
        (b"v/approved", CODEC.encode(a_change("w", Change.APPROVED)), "key_mismatch"),
        (b"v/withdrawn", CODEC.encode(a_change("v", Change.WITHDRAWN, "binary nl")), "key_mismatch"),
        (None, CODEC.encode(a_change("v", Change.APPROVED)), "key_mismatch"),
        (b"a b/approved", CODEC.encode(a_change("a b", Change.APPROVED)), "invalid_record"),
    ],
)
def test_a_record_that_cannot_be_read_says_why(key, value, error_type):
    with pytest.raises(UnreadableChange) as caught:
        read_change(raw_record(key, value))
    assert caught.value.error_type == error_type


def test_the_keys_of_a_version():
    assert policy_key("v", Change.APPROVED) == b"v/approved"
    assert policy_key("v", Change.WITHDRAWN, "instruction nl") == b"v/withdrawn/instruction nl"
    assert [key_version(key) for key in (b"v/withdrawn/a/b", b"v", b"", None, b"\xff/x")] == [
        "v",
        "v",
        "",
        "",
        "\ufffd",
    ]


def test_two_versions_of_a_minute_have_two_names_though_both_have_nothing():
    at = datetime(2026, 11, 28, 5, 0, 30, tzinfo=UTC)
    nothing = replace(a_fitted_policy(), certificates=())
    assert new_version(nothing, at) != new_version(nothing, at.replace(second=31))


def test_a_version_is_named_by_its_time_and_what_it_has():
    at = datetime(2026, 11, 28, 5, 0, 30, tzinfo=UTC)
    name = new_version(a_fitted_policy(), at)
    assert name.startswith("fitted-20261128T0500Z-")
    assert name == new_version(a_fitted_policy(), at)
    other = a_fitted_policy(a_certificate(threshold=0.31))
    assert name != new_version(other, at)
    assert CODEC.decode(CODEC.encode(a_change(name, Change.APPROVED)), PolicyChange).version == name
