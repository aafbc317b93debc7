"""A wrong setting is one line that names the variable and the reason; misspelt ones are refused."""

import shlex
from pathlib import Path

import pytest

from scoring.policy import Override
from scoring.values.exchange import MessageType
from streams.settings import (
    InvalidSettings,
    KafkaSettings,
    RatesSettings,
    Settings,
    WebSettings,
    load_settings,
)
from streams.settings.settings_loader import read_settings

SECRET = "hunter2-hunter2"


def complaint(config: Path | None = None) -> str:
    with pytest.raises(InvalidSettings) as raised:
        load_settings(config)
    message = "; ".join([str(raised.value), *raised.value.more])
    assert "\n" not in message
    return message


def wrong_variables() -> list[tuple[str, str, list[str]]]:
    """Give variables with a wrong value, each with the lines that are told of it."""
    entries = (Path(__file__).with_name("wrong_variables.txt")).read_text("utf-8").split("\n\n")
    given = [entry.strip("\n").split("\n  ") for entry in entries]
    return [(*shlex.split(assigned)[0].split("=", 1), told) for assigned, *told in given]


@pytest.mark.parametrize(("variable", "value", "told"), wrong_variables())
def test_a_wrong_variable_is_named_with_the_reason_and_with_nothing_that_follows_from_it(
    monkeypatch, variable, value, told
):
    monkeypatch.setenv(variable, value)
    with pytest.raises(InvalidSettings) as raised:
        load_settings()
    assert [str(raised.value), *raised.value.more] == told


def test_a_variable_is_known_in_lower_case(monkeypatch):
    monkeypatch.setenv("truthgate_web__port", "abc")
    assert "WEB__PORT: " in complaint()


def test_choices_are_known_in_any_case(monkeypatch):
    chosen = {
        "TRUTHGATE_LOG__LEVEL": "INFO",
        "TRUTHGATE_KAFKA__SECURITY_PROTOCOL": "ssl",
        "TRUTHGATE_KAFKA__SASL_MECHANISM": "scram-sha-256",
        "TRUTHGATE_TRANSLATION__PROVIDER": "MyMemory",
        "TRUTHGATE_ALERTS__THRESHOLDS": '[{"name": "x", "window_seconds": 60, "rate": 0.2, '
        '"message_type": "Binary", "severity": "WARNING"}]',
    }
    for variable, value in chosen.items():
        monkeypatch.setenv(variable, value)
    settings = load_settings()
    assert settings.log.level == "info"
    assert (settings.kafka.security_protocol, settings.kafka.sasl_mechanism) == ("SSL", "SCRAM-SHA-256")
    assert settings.translation.provider == "mymemory"
    (threshold,) = settings.alerts.thresholds
    assert (threshold.message_type, threshold.severity) == (MessageType.BINARY, "warning")


@pytest.mark.parametrize(
    ("variable", "values"),
    [
        ("KAFKA__DELIVERY_TIMEOUT_SECONDS", ["1e300", "inf", "nan", "0", "86401"]),
        ("KAFKA__CONNECT_TIMEOUT_SECONDS", ["inf", "1e300"]),
        ("TOPICS__PARTITIONS", ["9999999999", "0"]),
        ("TOPICS__REPLICATION_FACTOR", ["99999", "0", "-2"]),
        ("TOPICS__RETENTION_DAYS", ["9999999999"]),
        ("ENCODING__MAX_VALUE_BYTES", ["9999999999"]),
        ("DOCUMENTS__WAIT_TIMEOUT_SECONDS", ["nan"]),
        ("DOCUMENTS__STALE_AFTER_SECONDS", ["inf", "nan", "1e300"]),
        ("SCORING__PROCESSES", ["999999"]),
        ("FLOW__SESSION_TIMEOUT_SECONDS", ["inf", "1e300"]),
        ("FLOW__ANSWER_TIMEOUT_SECONDS", ["inf", "1e300"]),
        ("HEALTH__STALL_TIMEOUT_SECONDS", ["inf"]),
    ],
)
def test_a_number_that_no_client_or_timer_can_use_is_refused(monkeypatch, variable, values):
    for value in values:
        monkeypatch.setenv(f"TRUTHGATE_{variable}", value)
        assert complaint().startswith(f"TRUTHGATE_{variable}: ")


@pytest.mark.parametrize("threshold", ["nan", "inf", "-inf"])
def test_a_threshold_is_a_number_of_the_scale(monkeypatch, threshold):
    monkeypatch.setenv("TRUTHGATE_POLICY__AUTO_SEND_AT", threshold)
    assert "needs 1 <= block_below < auto_send_at <= 5" in complaint()


def test_the_overrides_of_the_policy_can_be_a_variable(monkeypatch):
    monkeypatch.setenv("TRUTHGATE_POLICY__OVERRIDES", '[{"language": "nl", "auto_send_at": 4.6}]')
    assert load_settings().policy.overrides == (Override(language="nl", auto_send_at=4.6),)


def test_who_is_asked_about_can_be_a_variable(monkeypatch):
    monkeypatch.setenv("TRUTHGATE_POLICY__ASK", '["middle_score"]')
    monkeypatch.setenv("TRUTHGATE_POLICY__ASK_NEVER", "[]")
    policy = load_settings().policy
    assert (policy.ask, policy.ask_never) == (("middle_score",), ())
    monkeypatch.setenv("TRUTHGATE_POLICY__ASK", "middle_score")
    assert "TRUTHGATE_POLICY__ASK should be a JSON list" in complaint()


def test_overrides_that_are_nested_too_deep_are_no_list(monkeypatch):
    monkeypatch.setenv("TRUTHGATE_POLICY__OVERRIDES", "[" * 100_000)
    assert "TRUTHGATE_POLICY__OVERRIDES should be a JSON list" in complaint()


def test_the_thresholds_of_alerts_can_be_a_variable(monkeypatch):
    monkeypatch.setenv(
        "TRUTHGATE_ALERTS__THRESHOLDS",
        '[{"name": "binary-nl", "message_type": "binary", "language": "nl", '
        '"window_seconds": 60, "rate": 0.1}]',
    )
    (threshold,) = load_settings().alerts.thresholds
    assert (threshold.name, threshold.message_type, threshold.window_seconds) == ("binary-nl", "binary", 60)


def test_windows_and_thresholds_can_be_in_the_file(tmp_path):
    path = tmp_path / "truthgate.toml"
    path.write_text(
        """
        [rates]
        windows = [{ size_seconds = 600 }, { size_seconds = 7200, hop_seconds = 600 }]

        [[alerts.thresholds]]
        name = "hourly"
        window_seconds = 7200
        rate = 0.3
        severity = "info"
        """,
        encoding="utf-8",
    )
    settings = load_settings(path)
    assert [(window.size_seconds, window.hop_seconds) for window in settings.rates.windows] == [
        (600, 600),
        (7200, 600),
    ]
    assert [threshold.window_seconds for threshold in settings.alerts.thresholds] == [7200]


def test_the_shipped_threshold_follows_the_windows(monkeypatch):
    monkeypatch.setenv("TRUTHGATE_RATES__WINDOWS", '[{"size_seconds": 600}, {"size_seconds": 60}]')
    (threshold,) = load_settings().alerts.thresholds
    assert (threshold.name, threshold.window_seconds, threshold.rate) == ("hallucination-rate", 600, 0.2)
    monkeypatch.setenv("TRUTHGATE_RATES__WINDOWS", '[{"size_seconds": 3600}, {"size_seconds": 7200}]')
    assert load_settings().alerts == Settings().alerts


def test_a_threshold_of_ones_own_on_a_window_that_is_not_there_is_refused_as_before(monkeypatch):
    monkeypatch.setenv("TRUTHGATE_RATES__WINDOWS", '[{"size_seconds": 600}]')
    mine = '[{"name": "mine", "window_seconds": 3600, "rate": 0.1}]'
    monkeypatch.setenv("TRUTHGATE_ALERTS__THRESHOLDS", mine)
    assert "window 3600 of threshold mine is not a size in rates.windows (600)" in complaint()


def test_all_that_is_wrong_is_named_at_once_in_a_line_each(monkeypatch, tmp_path):
    config = tmp_path / "truthgate.toml"
    config.write_text("[kafka]\ntopic_prefx = 'a'\n[web]\nport = 'abc'\n")
    given = {"LOG__LEVEL": "loud", "KAKFA": "x", "WBE__PORT": "1", "RATES__WINDOWS": "[{", "JUDGES": "{"}
    for name, value in given.items():
        monkeypatch.setenv(f"TRUTHGATE_{name}", value)
    with pytest.raises(InvalidSettings) as raised:
        load_settings(config)
    told = [str(raised.value), *raised.value.more]
    assert [line.partition(":")[0].partition(" ")[0] for line in told] == [
        "TRUTHGATE_KAKFA",
        "TRUTHGATE_WBE__PORT",
        "kafka.topic_prefx",
        "TRUTHGATE_JUDGES",
        "web.port",
        "TRUTHGATE_RATES__WINDOWS",
        "TRUTHGATE_LOG__LEVEL",
    ]


def test_a_list_that_lacks_its_wrong_entry_is_not_called_too_short(monkeypatch):
    monkeypatch.setenv("TRUTHGATE_RATES__WINDOWS", '[{"size_seconds": 60, "hop_seconds": 120}]')
    assert complaint() == (
        "rates.windows.0: hop_seconds should be at most size_seconds, "
        "or answers between two windows are not counted"
    )


def test_what_is_not_wrong_can_be_read_beside_what_is(monkeypatch, tmp_path):
    config = tmp_path / "truthgate.toml"
    config.write_text("[web]\nport = 'abc'\nhost = '::1'\n[log]\nlevel = 'debug'\n")
    monkeypatch.setenv("TRUTHGATE_WEB__PAGE", "off")
    monkeypatch.setenv("TRUTHGATE_RATES__WINDOWS", '[{"size_seconds": 9, "hop_seconds": 10}]')
    monkeypatch.setenv("TRUTHGATE_KAFKA__SECURITY_PROTOCOL", "SASL_SSL")
    reading = read_settings(config)
    assert len(reading.errors) == 3
    assert reading.settings
    assert reading.settings.web == WebSettings(host="::1", page=False)
    assert reading.settings.log.level == "debug"
    assert (reading.settings.rates, reading.settings.kafka) == (RatesSettings(), KafkaSettings())


@pytest.mark.parametrize(
    "variable",
    [
        "TRUTHGATE_KAFKA__SASL_PASWORD",
        "TRUTHGATE_KAFKA",
        "TRUTHGATE_PASSWORD",
        "TRUTHGATE_WEB__VERDICTS__TOKN",
        "TRUTHGATE_ENCODING__SCHEMA_REGISTRY_URL",
    ],
)
def test_a_value_that_may_be_a_secret_is_never_shown(monkeypatch, variable):
    monkeypatch.setenv(variable, SECRET)
    assert SECRET not in complaint()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TRUTHGATE_TEST_BROKER", "localhost:9092"),
        ("TRUTHGATE_KAFKA_HOME", "/opt/kafka"),
        ("TRUTHGATE_SERVICE_HOST", "10.0.0.7"),
        ("TRUTHGATE_SERVICE_PORT_HTTP", "6066"),
        ("TRUTHGATE_PORT", "tcp://10.0.0.7:6066"),
        ("TRUTHGATE_WEB_PORT_6066_TCP_ADDR", "10.0.0.7"),
    ],
)
def test_variables_that_are_not_settings_but_belong_there_are_let_be(monkeypatch, variable, value):
    """The last four are what Kubernetes puts into every pod beside a Service called truthgate."""
    monkeypatch.setenv(variable, value)
    assert load_settings() == Settings()


def test_the_environment_wins_over_the_file(monkeypatch, tmp_path):
    config = tmp_path / "truthgate.toml"
    config.write_text('[web]\nport = 7000\nhost = "::1"\n[log]\nlevel = "debug"\n')
    monkeypatch.setenv("TRUTHGATE_WEB__PORT", "7001")
    settings = load_settings(config)
    assert (settings.web.port, settings.web.host, settings.log.level) == (7001, "::1", "debug")


def test_a_file_chosen_for_one_load_does_not_stay_for_the_next(tmp_path):
    config = tmp_path / "truthgate.toml"
    config.write_text("[web]\nport = 7000\n")
    assert load_settings(config).web.port == 7000
    assert load_settings().web.port == Settings().web.port


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        ("[web\n", ["is not TOML", "line 1"]),
        ("[web]\nport = 'abc'\n", ["web.port: should be a whole number, not 'abc'"]),
        ("[web]\nprot = 7000\n", ["web.prot is not", "web.port?"]),
        ("[wbe]\nport = 7000\n", ["wbe is not"]),
        ("web = 3\n", ["web: "]),
    ],
)
def test_a_wrong_file_is_named_with_the_setting_or_the_line(tmp_path, content, parts):
    config = tmp_path / "truthgate.toml"
    config.write_text(content)
    message = complaint(config)
    assert [part for part in parts if part not in message] == []


def test_a_file_that_is_not_there_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("TRUTHGATE_CONFIG", str(tmp_path / "none.toml"))
    assert "none.toml cannot be read: No such file" in complaint()


def test_a_file_of_bytes_is_refused_as_not_toml(tmp_path):
    config = tmp_path / "bytes.toml"
    config.write_bytes(b"\xff\xfe\x00")
    assert "is not TOML" in complaint(config)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TRUTHGATE_POLICY__VERSION", "\udcff"),  # what Python makes of the byte FF
        ("TRUTHGATE_KAFKA__GROUP_INSTANCE_ID", "worker-\udcff"),
        ("TRUTHGATE_KAFKA__SASL_PASSWORD", "\udcff"),
        ("TRUTHGATE_SCORING__LEXICONS", "/tmp/\udcff"),
        ("TRUTHGATE_SCORING__PIPELINES", '{"nl": "\\ud800"}'),
        ("TRUTHGATE_POLICY", '{"version": "\\ud800"}'),
        ("OTEL_SERVICE_NAME", "\udcff"),
    ],
)
def test_a_variable_that_is_no_text_is_refused_before_answers_fail_of_it(monkeypatch, variable, value):
    """Verdicts name the policy, clients the worker, metrics the service: no such record could be written."""
    monkeypatch.setenv(variable, value)
    assert complaint() == f"{variable} contains bytes that are not UTF-8, or half of a surrogate pair"


def test_characters_beyond_the_first_plane_are_text_however_they_are_written(monkeypatch):
    monkeypatch.setenv("TRUTHGATE_POLICY__VERSION", "\U0001f600")
    monkeypatch.setenv("TRUTHGATE_SCORING__PIPELINES", '{"nl": "\\ud83d\\ude00"}')
    settings = load_settings()
    assert (settings.policy.version, settings.scoring.pipelines["nl"]) == ("\U0001f600", "\U0001f600")
