"""`truthgate demo`: start Kafka and a worker, process the sample, and clean up."""

import asyncio
import json
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, SecretStr

from streams.cli.command_output import CommandFailed, ExitCode, UsageError, say
from streams.cli.demo.demo_board import DemoBoard, open_display
from streams.cli.demo.demo_judge import recorded_judge_settings
from streams.cli.demo.demo_process import DemoFailed, WorkerProcess
from streams.cli.demo.demo_run import DemoDesk, DemoRun, page_address
from streams.cli.demo.sample import Language
from streams.cli.verdict_rendering import ResultConsole
from streams.embedded import EmbeddedKafka, EmbeddedKafkaError, FetchFailed, MissingExtra
from streams.embedded.broker_properties import LOOPBACK, free_ports, is_free
from streams.settings import (
    AlertSettings,
    AlertThreshold,
    DeskSettings,
    DocumentSettings,
    EncodingSettings,
    KafkaSettings,
    RatesSettings,
    RateWindowSettings,
    Settings,
    TopicSettings,
    WebSettings,
    load_settings,
    variable_name,
)

# Two show that work is distributed by conversation, and start as fast as one.
_PARTITIONS = 2

# The demo takes less than a minute: with these windows the page has something to show.
_RATES = RatesSettings(
    windows=(
        RateWindowSettings(size_seconds=60, hop_seconds=5),
        RateWindowSettings(size_seconds=300, hop_seconds=15),
        RateWindowSettings(size_seconds=3600, hop_seconds=300),
    ),
    allowed_lateness_seconds=10,
)
_ALERTS = AlertSettings(
    thresholds=(AlertThreshold(name="hallucination-rate", window_seconds=60, rate=0.1, minimum_answers=20),)
)

_DECISIONS_PER_MINUTE = 1_000
# Opinions decide nothing at the desk of the demo until ratings show what they are worth.
_HOLDING = {variable_name("policy", "send_confidence"): "1", variable_name("policy", "block_confidence"): "1"}


def demo(
    language: Annotated[
        Language, typer.Option(help="The sample: Dutch as written, or its English translation.")
    ] = "nl",
    rate: Annotated[
        float, typer.Option(min=0, metavar="N", help="Answers per second; 0 is as fast as possible.")
    ] = 2,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="The port of the worker's page, or a free one if it is in use. Default: web.port (6066).",
        ),
    ] = None,
    judges: Annotated[
        bool,
        typer.Option(
            "--judges", help="Ask the language models of your settings (judges.endpoints), as a worker does."
        ),
    ] = False,
    desk: Annotated[
        bool,
        typer.Option(
            "--desk",
            help="Run the review desk too, on desk.port (6067) of this machine, until Ctrl-C. A simulated "
            "reviewer decides there until you do.",
        ),
    ] = False,
    reviewer: Annotated[
        bool, typer.Option("--reviewer/--no-reviewer", help="With --desk: the simulated reviewer.")
    ] = True,
    plain: Annotated[bool, typer.Option("--plain", help="Write lines instead of a live table.")] = False,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep Kafka and the worker running at the end.")
    ] = False,
) -> None:
    """Run all of truthgate on this machine: Kafka, a worker, and a sample chat log scored live.

    Needs only `pip install 'truthgate[demo]'`. The first run downloads Apache Kafka (44 MB). The demo ends
    when every sample answer has its verdict, and removes its files. Meanwhile its page, by default
    http://127.0.0.1:6066/, shows the rate of untrue answers, and which were blocked and why.

    With --desk you decide yourself, at http://127.0.0.1:6067/, about the answers that wait for a person.
    Without --judges, recorded opinions are played back, which alone send nothing. If you leave the deciding
    to the simulated reviewer then, it goes on: a policy is fitted to the ratings and approved, answers are
    sent by it, the chatbot gets worse, and the policy is withdrawn. See http://127.0.0.1:6067/lead/policies.

    Example: `truthgate demo --rate 5`
    """
    own = load_settings()
    if judges and not own.judges.endpoints:
        raise UsageError("--judges: no language model is configured (set judges.endpoints)")
    folder = Path(tempfile.mkdtemp(prefix="truthgate-demo-"))
    try:
        with _signals_as_ctrl_c(), _exit_codes(folder):
            own_port = _free_port(own.web.port if port is None else port, "the worker's page")
            desk_port = _free_port(own.desk.port, "the review desk") if desk else None
            board = _demo(
                folder,
                own,
                language,
                rate,
                own_port,
                desk_port,
                judges=judges,
                reviewer=reviewer,
                plain=plain,
                keep=keep,
            )
        say(board.summary())
        if not (keep or desk):
            say(f"the page was at {page_address(own_port)}; `truthgate demo --keep` keeps it")
    except (KeyboardInterrupt, UsageError):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    shutil.rmtree(folder, ignore_errors=True)


def _free_port(wanted: int, of: str) -> int:
    """Return a port if it is free, or else another one."""
    if wanted and is_free(wanted):
        return wanted
    (port,) = free_ports(1)
    if wanted:
        say(f"port {wanted} is in use; {of} is on port {port}")
    return port


def _demo(
    folder: Path,
    own: Settings,
    language: Language,
    rate: float,
    port: int,
    desk_port: int | None,
    *,
    judges: bool,
    reviewer: bool,
    plain: bool,
    keep: bool,
) -> DemoBoard:
    say("starting Apache Kafka (the first run downloads it, 44 MB)")
    with EmbeddedKafka() as kafka:
        say(f"Kafka runs at {kafka.bootstrap_servers}; the worker's log is {folder / 'worker.log'}")
        sections: dict[str, BaseModel] = {
            "kafka": KafkaSettings(bootstrap_servers=kafka.bootstrap_servers),
            "topics": TopicSettings(partitions=_PARTITIONS),
            "documents": DocumentSettings(store=folder / "documents"),
            "web": WebSettings(host=LOOPBACK, port=port, texts=True),  # its customers are invented
            "rates": _RATES,
            "alerts": _ALERTS,
        }
        judge_port = None
        if judges:
            sections["judges"] = own.judges
        elif desk_port:
            (judge_port,) = free_ports(1)
            sections["judges"] = recorded_judge_settings(judge_port)
        if desk_port:
            sections["desk"] = DeskSettings(
                host=LOOPBACK,
                port=desk_port,
                store=folder / "desk",
                audit_share=1,
                decisions_per_minute=_DECISIONS_PER_MINUTE,
            )
        variables = _variables(sections)
        if judge_port:
            variables |= _HOLDING
        (broker,) = kafka.brokers
        worker = WorkerProcess(variables, folder / "worker.log", lambda: broker.running)
        desk = None
        if desk_port:
            process = WorkerProcess(variables, folder / "desk.log", lambda: broker.running, "desk")
            desk = DemoDesk(process, reviewer, judge_port)
        settings = Settings.model_validate({**sections, "flow": own.flow, "encoding": EncodingSettings()})
        with open_display(ResultConsole(), plain=plain) as show:
            return asyncio.run(DemoRun(settings, language, worker, desk, show).run(rate, keep=keep))


def _variables(sections: Mapping[str, BaseModel]) -> dict[str, str]:
    given = {section: values.model_dump(exclude_unset=True) for section, values in sections.items()}
    return {
        variable_name(section, name): value if isinstance(value, str) else json.dumps(value)
        for section, values in json.loads(json.dumps(given, default=_plain)).items()
        for name, value in values.items()
    }


def _plain(value: object) -> str:
    # With secrets, which pydantic would hide.
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


@contextmanager
def _signals_as_ctrl_c() -> Iterator[None]:
    """Clean up on SIGTERM and SIGHUP as on Ctrl-C."""
    signals = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(each, _interrupt) for each in signals]
    try:
        yield
    finally:
        for each, handler in zip(signals, before, strict=True):
            signal.signal(each, handler)


def _interrupt(*_: object) -> None:
    # A shell that starts the demo in the background ignores Ctrl-C for it; SIGTERM still counts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        raise KeyboardInterrupt
    signal.raise_signal(signal.SIGINT)


@contextmanager
def _exit_codes(folder: Path) -> Iterator[None]:
    """Raise the errors of the demo as CommandFailed, each with its exit code."""
    try:
        yield
    except MissingExtra as error:
        raise UsageError(str(error)) from error
    except FetchFailed as error:
        raise CommandFailed(str(error), ExitCode.UNREACHABLE) from error
    except EmbeddedKafkaError as error:
        raise CommandFailed(str(error), ExitCode.SOFTWARE) from error
    except DemoFailed as error:
        sys.stderr.write(error.log_tail + "\n")
        message = f"{error}; the whole log is in {folder}"
        raise CommandFailed(message, ExitCode.SOFTWARE) from error
