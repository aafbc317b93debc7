"""The end of a client certificate, as the worker's metric shows it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme

from streams.settings import KafkaSettings, Settings, certificate_end
from streams.worker.worker_metrics import open_metrics
from tests.support.certificates import Authority


@pytest.mark.parametrize(
    "end",
    [
        datetime(1999, 1, 2, 3, 4, 5, tzinfo=UTC),
        datetime(2049, 12, 31, tzinfo=UTC),
        datetime(2050, 1, 1, tzinfo=UTC),
    ],
)
def test_the_end_of_the_first_certificate_of_a_chain(end: datetime, tmp_path: Path) -> None:
    issued = trustme.CA().issue_cert("host", not_before=datetime(1990, 1, 1, tzinfo=UTC), not_after=end)
    file = tmp_path / "client.pem"
    file.write_bytes(issued.private_key_pem.bytes() + b"".join(one.bytes() for one in issued.cert_chain_pems))
    assert certificate_end(file) == end.timestamp()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no certificate",
        "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        "-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----\n",
    ],
)
def test_a_file_without_one_has_no_end(text: str, tmp_path: Path) -> None:
    (tmp_path / "client.pem").write_text(text)
    assert certificate_end(tmp_path / "client.pem") is None
    assert certificate_end(tmp_path / "another.pem") is None


def test_a_worker_shows_it(tmp_path: Path) -> None:
    issued = Authority(tmp_path, "authority").issue("client")
    kafka = KafkaSettings(security_protocol="SSL", ssl_certfile=issued.certificate, ssl_keyfile=issued.key)
    with open_metrics(Settings(kafka=kafka)) as metrics:
        shown = metrics.registry.get_sample_value("truthgate_kafka_certificate_end_seconds")
    assert shown == certificate_end(issued.certificate)
