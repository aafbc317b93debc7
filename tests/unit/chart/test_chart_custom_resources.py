"""What the chart makes for prometheus-operator and KEDA is what their CRDs describe."""

from itertools import chain

import pytest

from tests.support.charts import BUILT_IN, FEATURES, feature, only, resources
from tests.support.custom_resources import MODELS, complaints

EVERY = list(chain.from_iterable(resources(feature(name)) for name in FEATURES))
CUSTOM = [each for each in EVERY if (each["apiVersion"], each["kind"]) in MODELS]

pytestmark = pytest.mark.timeout(500)


def test_every_kind_is_checked_by_somebody_but_strimzis() -> None:
    """Of whose CRDs no package has a schema; what is in its resources is compared with truthgate's own."""
    others = {each["kind"] for each in EVERY if each["apiVersion"] not in BUILT_IN}
    assert others == {kind for _, kind in MODELS} | {"KafkaTopic"}


def test_custom_resources_are_as_their_crds_describe_them() -> None:
    assert complaints(CUSTOM) == ""


def test_a_field_that_no_crd_has_is_found_and_so_is_one_of_another_type() -> None:
    scaled = only(resources(feature("keda")), "ScaledObject")
    scaled["spec"]["triggers"][0]["metadat"] = {}
    scaled["spec"]["maxReplicaCount"] = "many"
    told = complaints([scaled])
    assert "'\"metadat\"' does not exist" in told
    assert "Type 'string' is not assignable to type 'number'" in told
