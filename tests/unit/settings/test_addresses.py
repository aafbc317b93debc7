"""What counts as an address in the settings, and that every address that does can be used."""

import pytest
from aiokafka.conn import collect_hosts
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.registry import SchemaRegistry
from streams.kafka.kafka_clients import faust_broker_urls
from streams.settings import EncodingSettings, KafkaSettings, WebSettings
from streams.settings.settings_base import redact_credentials


@pytest.mark.parametrize(
    ("servers", "hosts"),
    [
        ("localhost:9092", [("localhost", 9092)]),
        ("kafka", [("kafka", 9092)]),
        ("b_1.example.org:1, b-2:65535", [("b-2", 65535), ("b_1.example.org", 1)]),
        ("10.0.0.7:9092", [("10.0.0.7", 9092)]),
        ("[::1]:9093,[fe80::1%eth0]", [("::1", 9093), ("fe80::1%eth0", 9092)]),
    ],
)
def test_servers_are_hosts_with_or_without_a_port(servers, hosts):
    settings = KafkaSettings(bootstrap_servers=servers)
    found = collect_hosts(settings.bootstrap_servers)
    assert sorted((host, port) for host, port, _ in found) == sorted(hosts)


@pytest.mark.parametrize(
    "servers",
    ["a:1,", ":9092", "a:", "a:abc", "a:0", "a:65536", "a:-1", "a b:1", "a:1:2", "::1", "[::1",
     "[::1]9092", "[a]:1", "[]:1", "kafka://a:9092", "a:1/x", "u@a:1", "a:\u0661",
     "a..b:9092", ".a:1", ".", f"{'x' * 64}.org:1"],
)  # fmt: skip
def test_other_servers_are_refused(servers):
    with pytest.raises(ValidationError, match="should be host:port"):
        KafkaSettings(bootstrap_servers=servers)


@pytest.mark.parametrize("servers", ["", " ", " , "])
def test_that_no_server_is_named_is_reported_as_that(servers):
    with pytest.raises(ValidationError, match="is empty; set at least one host:port"):
        KafkaSettings(bootstrap_servers=servers)


@given(st.text(alphabet="a1:[]., %@/-", max_size=12))
def test_servers_that_are_accepted_are_read_without_an_error(servers):
    try:
        settings = KafkaSettings(bootstrap_servers=servers)
    except ValidationError:
        return
    assert all(0 < port < 65536 for _, port, _ in collect_hosts(settings.bootstrap_servers))


def test_faust_gets_ipv6_in_brackets():
    assert faust_broker_urls(KafkaSettings(bootstrap_servers="[::1]:9093")) == ["kafka://[::1]:9093"]


@pytest.mark.parametrize(
    "url",
    ["http://registry:8081", "https://registry", "https://user:p%40ss@registry.example.org:443/path", "http://[::1]:1"],
)  # fmt: skip
def test_a_registry_has_an_http_url_with_a_host(url):
    assert EncodingSettings(schema_registry_url=url).schema_registry_url == url
    SchemaRegistry(url, timeout=1)


@pytest.mark.parametrize(
    "url",
    ["ftp://x", "registry:8081", "http://", "http:registry", "http://a:abc", "http://a:0", "http://a:65536",
     "http://a b", "http://[::1", "http://[x]", "/path", " ", "http://a..b:80", f"http://{'x' * 64}"],
)  # fmt: skip
def test_other_urls_of_a_registry_are_refused(url):
    with pytest.raises(ValidationError, match="should be an http or https URL"):
        EncodingSettings(schema_registry_url=url)


def test_an_empty_url_is_none():
    assert not EncodingSettings(schema_registry_url="").schema_registry_url


@given(st.text(alphabet="htps:/[]a1.@%? ", max_size=16).map("http://".__add__))
@example("http://a%2g")
def test_urls_that_are_accepted_make_a_registry(url):
    try:
        settings = EncodingSettings(schema_registry_url=url)
    except ValidationError:
        return
    SchemaRegistry(settings.schema_registry_url or "", timeout=1)


@pytest.mark.parametrize(
    "host", ["", "0.0.0.0", "::", "::1", "localhost", "b\u00fccher.example", "example.org.", "x" * 63]
)
def test_a_worker_listens_on_an_address_or_a_name(host):
    assert WebSettings(host=host).host == host


@pytest.mark.parametrize("host", ["nonsense..host", ".", ".a", "x" * 64, "[::1]", "a:80", "http://a", "a b"])
def test_what_cannot_be_looked_up_is_nothing_to_listen_on(host):
    with pytest.raises(ValidationError, match="IP address or a host name"):
        WebSettings(host=host)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://registry:8081/path", "http://registry:8081/path"),
        ("http://bob:secret@127.0.0.1:1/", "http://***@127.0.0.1:1/"),
        ("http://bob:p@secret@127.0.0.1:1/", "http://***@127.0.0.1:1/"),
        ("http://bob:p/secret@host/a?key=secret", "http://***@host/a?***"),
        ("http://bob:p secret@host", "http://***@host"),
        ("http://bob:p?secret@host", "http://***"),
        ("http://host/?key=secret@secret", "http://***"),
        ("http://host/?key=secret secret", "http://host/?***"),
        ("nl_core_news_sm?", "nl_core_news_sm?"),
    ],
)
def test_an_address_is_shown_without_user_password_and_query(url, shown):
    assert redact_credentials(url) == shown
