"""The reference of metrics and log lines has what the code has, and nothing else."""

import ast
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

import streams
from docs.generate.reference.telemetry_page import PAGE, metric_sections, render
from streams.observability.instruments import Instruments
from tests.support.log_lines import documented_log_lines

_ROOT = Path(streams.__file__).parents[1]
_LEVELS = {"debug", "info", "warning", "error", "critical", "exception"}


def test_the_page_is_what_the_definitions_say():
    page = PAGE.read_text(encoding="utf-8")
    assert page == render(metric_sections(), page), "run `python -m docs.generate`"


def test_every_metric_is_exported_with_the_name_type_and_meaning_that_the_page_gives():
    definitions = [one for section in metric_sections().values() for one in section]
    again = Instruments()
    again.begin_section("all")
    for one in definitions:
        values = tuple("x" for _ in one.labels)
        about = (one.name, one.description, one.look_at, *one.labels)
        if one.kind == "counter":
            again.counter(*about, unit=one.unit).add(*values)
        elif one.kind == "gauge":
            again.gauge(*about, unit=one.unit).set(1, *values)
        else:
            again.histogram(*about, unit=one.unit, bounds=one.bounds).record(1, *values)
    families = list(text_string_to_metric_families(generate_latest(again.registry).decode()))
    exported = {
        f.name + ("_total" if f.type == "counter" else ""): (f.type, f.documentation) for f in families
    }
    labels = {f.name: set(f.samples[-1].labels) - {"le"} for f in families}
    assert exported.pop("target_info")[0] == "gauge"
    assert exported == {one.prometheus: (one.kind, one.description) for one in definitions}
    for one in definitions:
        expected = {label.prometheus for label in one.labels}
        assert labels[one.prometheus.removesuffix("_total")] == expected, one.name


def _logged() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give name and fields of every call of a logger in the code of the worker."""
    for folder in ("streams", "scoring"):
        for path in (_ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call) and _is_of_a_logger(node.func) and node.args:
                    (event,) = node.args
                    assert isinstance(event, ast.Constant), f"{path}: an event has a name that stands there"
                    yield str(event.value), tuple(str(field.arg) for field in node.keywords)


def _is_of_a_logger(called: ast.expr) -> bool:
    return (
        isinstance(called, ast.Attribute)
        and called.attr in _LEVELS
        and isinstance(called.value, ast.Name)
        and called.value.id == "log"
    )


def test_every_log_line_stands_in_the_reference_with_its_fields():
    documented = documented_log_lines()
    assert len(documented) == len(set(documented))
    assert set(_logged()) == set(documented)
