"""Rows on what the workers use: scoring processes, translation, documents, and the processes themselves."""

from __future__ import annotations

from streams.monitoring.dashboard import style
from streams.monitoring.dashboard.panels import Panel, Query, graph, states
from streams.monitoring.dashboard.questions import Questions

_CACHES = {"memory": style.GOOD, "disk": style.NEUTRAL, "miss": style.DOUBTFUL}
_BREAKER = {"open": style.BAD, "half_open": style.DOUBTFUL, "closed": style.GOOD}


def scoring(ask: Questions) -> list[Panel]:
    """Show whether there are enough scoring processes."""
    return [
        graph(
            "Scoring processes",
            "Processes that judge, and how many of them are at work.",
            "short",
            Query(ask.sum("truthgate_scoring_processes"), "all"),
            Query(ask.sum("truthgate_scoring_processes_busy"), "busy"),
            colors={"all": style.NEUTRAL, "busy": style.DOUBTFUL},
            span=6,
        ),
        graph(
            "Answers in work",
            "Answers that wait for a scoring process, and all that a worker has taken and not finished.",
            "short",
            Query(ask.sum("truthgate_scoring_queue"), "waiting for a process"),
            Query(ask.sum("truthgate_answers_in_flight"), "in work"),
            span=6,
        ),
        graph(
            "Time to score, 95%",
            "The stage score, waiting for a process included.",
            "s",
            Query(ask.quantile(0.95, "truthgate_stage_duration_seconds", where=('stage="score"',)), "score"),
            span=6,
        ),
        graph(
            "Documents found parsed",
            "Documents that answers were judged against, a second: parsed in memory, on disk, or not at all.",
            "cps",
            Query(ask.rate("truthgate_prepared_documents_total", "cache"), "{{cache}}"),
            colors=_CACHES,
            span=6,
            stacked=True,
        ),
    ]


def translation(ask: Questions) -> list[Panel]:
    """Show whether the translator keeps up."""
    return [
        graph(
            "Translations",
            "Answers that were to be translated, a second, by how that ended.",
            "cps",
            Query(ask.rate("truthgate_translations_total", "outcome") + " > 0", "{{outcome}}"),
            colors={"translated": style.GOOD, "not_needed": style.NEUTRAL},
            span=6,
            stacked=True,
        ),
        states(
            "Breaker",
            "The circuit breaker before the translator. While it is open, answers are held instead.",
            *(
                Query(ask.max("truthgate_translation_breaker", where=(f'state="{state}"',)), state)
                for state in _BREAKER
            ),
            span=6,
            colors=_BREAKER,
        ),
        graph(
            "Calls to the translator, 95%",
            "How long one call takes, by how it ended.",
            "s",
            Query(ask.quantile(0.95, "truthgate_translation_call_seconds", "outcome"), "{{outcome}}"),
            span=6,
        ),
        graph(
            "Sentences of documents",
            "Sentences of documents looked up in the cache of translations, a second.",
            "cps",
            Query(ask.rate("truthgate_translation_cache_lookups_total", "result"), "{{result}}"),
            colors={"hit": style.GOOD, "miss": style.DOUBTFUL},
            span=6,
            stacked=True,
        ),
    ]


def documents(ask: Questions) -> list[Panel]:
    """Show whether the help documents arrive where they are needed."""
    return [
        graph(
            "Documents",
            "Documents in the copy of the worker that has the most, in its index, and still to be put there.",
            "short",
            Query(ask.max("truthgate_documents"), "known"),
            Query(ask.max("truthgate_retrieval_documents"), "indexed"),
            Query(ask.max("truthgate_retrieval_documents_pending"), "to be indexed"),
            span=6,
        ),
        graph(
            "Documents indexed",
            "Documents embedded and put into the index, a second.",
            "cps",
            Query(ask.rate("truthgate_retrieval_documents_indexed_total"), "indexed"),
            span=6,
        ),
        graph(
            "Failures",
            "In the last quarter of an hour: documents that cannot be read, updates of the index, and of the "
            "company's words.",
            "short",
            *(
                Query(ask.total(ask.promql.over("increase", name, 900)), legend)
                for name, legend in (
                    ("truthgate_bad_documents_total", "bad documents"),
                    ("truthgate_retrieval_index_failures_total", "index"),
                    ("truthgate_company_terms_failures_total", "company's words"),
                )
            ),
            span=6,
        ),
        graph(
            "Age of the company's words",
            "Time since they were known to agree with the documents, of the worker furthest behind.",
            "s",
            Query(ask.max("truthgate_company_terms_age_seconds"), "age"),
            span=6,
        ),
    ]


def processes(ask: Questions) -> list[Panel]:
    """Show what each worker's main process uses; the scoring processes are not in it."""
    cpu = ask.promql.over("rate", "process_cpu_seconds_total", "$__rate_interval")
    return [
        graph(
            "CPU",
            "Cores used by each worker's main process, without its scoring processes. At 1 it is full.",
            "none",
            Query(cpu, "{{instance}}"),
            limit=0.9,
        ),
        graph(
            "Memory",
            "Memory of each worker's main process, without its scoring processes.",
            "bytes",
            Query(ask.each("process_resident_memory_bytes"), "{{instance}}"),
        ),
        graph(
            "Time since the start",
            "A line that falls to 0 is a worker that has started again.",
            "s",
            Query(f"time() - {ask.each('process_start_time_seconds')}", "{{instance}}"),
        ),
    ]
