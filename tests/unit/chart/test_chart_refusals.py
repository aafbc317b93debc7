"""Wrong values of the chart: helm refuses them, and says which and why."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.support.charts import MINIMUM, refusal, with_settings

WRONG = {
    "no address of Kafka": ({}, "settings.kafka.bootstrap_servers is needed"),
    "a setting that is none": (with_settings(flow={"max_inflight": 4}), "'max_inflight' not allowed"),
    "a section that is none": (with_settings(flows={}), "'flows' not allowed"),
    "a number out of range": (with_settings(flow={"max_in_flight": 0}), "got 0, want 1"),
    "text for a number": (with_settings(topics={"partitions": "six"}), "got string, want integer"),
    "a word that is none of those": (with_settings(log={"level": "loud"}), "/settings/log/level"),
    "a secret among the settings": (
        with_settings(kafka={"sasl_password": "x"}),
        "'sasl_password' not allowed",
    ),
    "the pod's own name": (
        with_settings(kafka={"group_instance_id": "x"}),
        "'group_instance_id' not allowed",
    ),
    "a prefix that no topic may have": (
        with_settings(kafka={"topic_prefix": "a b"}),
        "/settings/kafka/topic_prefix",
    ),
    "a judge without a model": (
        with_settings(judges={"endpoints": {"a": {"base_url": "http://a"}}}),
        "missing property 'model'",
    ),
    "a judge whose name is none": (
        with_settings(judges={"endpoints": {"A": {}}}),
        "/settings/judges/endpoints",
    ),
    "an override that is none": (
        with_settings(policy={"overrides": [{"languag": "nl"}]}),
        "'languag' not allowed",
    ),
    "a value that is none": ({**MINIMUM, "replicas": 3}, "'replicas' not allowed"),
    "a value below that is none": ({**MINIMUM, "image": {"name": "x"}}, "'name' not allowed"),
    "a digest that is none": ({**MINIMUM, "image": {"digest": "latest"}}, "/image/digest"),
    "a secret without a key": (
        {**MINIMUM, "secrets": {"existing": {"kafka.sasl_password": {"name": "s"}}}},
        "missing property 'key'",
    ),
    "a secret that no setting is": (
        {**MINIMUM, "secrets": {"values": {"password": "x"}}},
        "propertyName 'password'",
    ),
    "a certificate without a key": (
        {**MINIMUM, "tls": {"kafka": {"secretName": "s", "certKey": "c"}}},
        "tls.kafka.certKey and keyKey go together",
    ),
    "a certificate in no Secret": (
        {**MINIMUM, "tls": {"kafka": {"certKey": "c", "keyKey": "k"}}},
        "tls.kafka.certKey needs clientSecretName or secretName",
    ),
    "a label that is a number": ({**MINIMUM, "commonLabels": {"team": 5}}, "/commonLabels/team"),
    "a variable that is a number": (
        {**MINIMUM, "extraEnv": [{"name": "A", "value": 1}]},
        "/extraEnv/0/value",
    ),
    "a variable that is misspelt": (
        {**MINIMUM, "extraEnv": [{"name": "A", "vaule": "1"}]},
        "'vaule' not allowed",
    ),
    "a secret for images without a name": ({**MINIMUM, "imagePullSecrets": ["a"]}, "/imagePullSecrets/0"),
    "resources that are none": ({**MINIMUM, "resources": {"limit": {}}}, "'limit' not allowed"),
    "a name that none may have": ({**MINIMUM, "nameOverride": "My gate"}, "/nameOverride"),
    "a budget that is none": (
        {**MINIMUM, "podDisruptionBudget": {"maxUnavailable": "all"}},
        "/podDisruptionBudget/maxUnavailable",
    ),
    "a budget of nobody": (
        {**MINIMUM, "podDisruptionBudget": {"minAvailable": "all"}},
        "/podDisruptionBudget/minAvailable",
    ),
    "pages under no name": ({**MINIMUM, "ingress": {"enabled": True}}, "ingress.host is needed"),
    "an alert that is none": (
        {**MINIMUM, "prometheusRule": {"enabled": True, "alerts": {"TruthgateNo": {"for": "1m"}}}},
        "prometheusRule.alerts has TruthgateNo, and no alert has that name",
    ),
    "a change of an alert that is none": (
        {**MINIMUM, "prometheusRule": {"alerts": {"TruthgateNoAnswers": {"severity": "info"}}}},
        "'severity' not allowed",
    ),
    "rules that are none": (
        {**MINIMUM, "prometheusRule": {"enabled": True, "rules": "rules: []"}},
        "prometheusRule.rules has no groups",
    ),
    "a value that no job has": (
        {**MINIMUM, "topics": {"job": {"values": {"replicaCount": 1}}}},
        "'replicaCount' not allowed",
    ),
    "a setting of the job that is none": (
        {**MINIMUM, "topics": {"job": {"values": {"settings": {"kafka": {"user": "x"}}}}}},
        "'user' not allowed",
    ),
    "lag that nobody may wait": ({**MINIMUM, "autoscaling": {"keda": {"lagThreshold": 0}}}, "minimum: got 0"),
    "a scrape that outlasts its interval": (
        {**MINIMUM, "serviceMonitor": {"enabled": True, "interval": "1m", "scrapeTimeout": "1m1s"}},
        "serviceMonitor.scrapeTimeout 1m1s should be at most serviceMonitor.interval, 1m",
    ),
    "a time to scrape that is none": (
        {**MINIMUM, "podMonitor": {"enabled": True, "interval": "15"}},
        "/podMonitor/interval",
    ),
    "pages that no probe reaches": (
        with_settings(web={"host": "127.0.0.1"}),
        "settings.web.host 127.0.0.1 cannot be reached from outside the pod: set probes.byCommand",
    ),
    "a LibreTranslate that nobody asks": (
        {**with_settings(translation={"provider": "deepl"}), "libretranslate": {"enabled": True}},
        "libretranslate.enabled is for settings.translation.provider libretranslate, not deepl",
    ),
    "topics made by nobody known": ({**MINIMUM, "topics": {"create": "terraform"}}, "/topics/create"),
    "strimzi's topics for no cluster": (
        {**MINIMUM, "topics": {"create": "strimzi"}},
        "topics.strimzi.cluster is needed",
    ),
    "more workers than partitions": (
        {**MINIMUM, "replicaCount": 7},
        "replicaCount 7 is more than settings.topics.partitions 6",
    ),
    "more workers at most than partitions": (
        {**MINIMUM, "autoscaling": {"by": "keda", "maxReplicas": 7}},
        "autoscaling.maxReplicas 7 is more than settings.topics.partitions 6",
    ),
    "more workers at least than at most": (
        {**MINIMUM, "autoscaling": {"by": "hpa", "minReplicas": 5, "maxReplicas": 4}},
        "autoscaling.minReplicas 5 is more than the maximum of 4",
    ),
    "scaling by both": ({**MINIMUM, "autoscaling": {"by": "both"}}, "/autoscaling/by"),
    "a port that no probe finds": (with_settings(web={"port": 0}), "settings.web.port 0 is any free port"),
    "two monitors": (
        {**MINIMUM, "serviceMonitor": {"enabled": True}, "podMonitor": {"enabled": True}},
        "serviceMonitor and podMonitor exclude each other",
    ),
}


@pytest.mark.parametrize(("values", "told"), WRONG.values(), ids=list(WRONG))
def test_wrong_values_are_refused_with_the_reason(values: Mapping[str, Any], told: str) -> None:
    assert told in refusal(values)
