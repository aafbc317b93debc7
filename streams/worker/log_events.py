"""Every line that the worker logs by itself, for the reference; a test compares them with the code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogEvent:
    """A kind of line: its name, the fields it has beside those of every line, and what it tells."""

    name: str
    fields: tuple[str, ...]
    meaning: str


LOG_EVENTS = (
    LogEvent("worker_starts", ("port", "group"), "The worker serves its pages and begins."),
    LogEvent(
        "worker_ready",
        ("address", "documents", "partitions"),
        "It judges answers from now on; its page, health and metrics are at that address.",
    ),
    LogEvent("server_starts", ("port",), "`truthgate serve` answers health checks, and loads what judges."),
    LogEvent("server_ready", ("address", "documents"), "It judges what is posted from now on."),
    LogEvent("server_stops", ("signal",), "It was asked to stop, and finishes what is in work."),
    LogEvent("server_stopped", (), "It has stopped, with everything in work answered."),
    LogEvent("server_failed", ("reason", "exit_code"), "It could not start or go on, and ends."),
    LogEvent("server_ends", ("reason", "exit_code"), "It does not get on, and ends at once."),
    LogEvent(
        "answer_not_judged",
        ("stage", "error_type"),
        "An answer that was posted cannot be judged; the client has a 500, and one line each.",
    ),
    LogEvent("request_failed", ("reason",), "A defect; the client has a 500."),
    LogEvent(
        "topic_keeps_too_little", ("topic", "reason"), "Its retention is so short that records may be lost."
    ),
    LogEvent(
        "setting_without_effect", ("reason",), "Something is set, and changes nothing because of another."
    ),
    LogEvent(
        "another_deployment", ("reason",), "Another deployment has the same group, or reads the same answers."
    ),
    LogEvent("other_deployments_unknown", ("error_type",), "The brokers do not tell which groups there are."),
    LogEvent("worker_stops", ("signal",), "It was asked to stop, and finishes what is in work."),
    LogEvent("worker_stopped", (), "It has stopped, with everything committed."),
    LogEvent("worker_failed", ("reason", "exit_code"), "It could not start or go on, and ends."),
    LogEvent("worker_ends", ("reason", "exit_code"), "It ends at once; what was in work is delivered again."),
    LogEvent(
        "dead_letter",
        ("stage", "error_type", "partition", "offset", "size"),
        "An answer went to the dead letters; one line each.",
    ),
    LogEvent(
        "bad_document",
        ("error_type", "partition", "offset"),
        "A document went to the dead letters; one line each.",
    ),
    LogEvent(
        "document_language_unknown",
        ("partition", "offset"),
        "The language of a document is no code such as nl: it counts as one not known. One line each.",
    ),
    LogEvent(
        "kafka_token_not_had",
        ("reason",),
        "A token for Kafka was to be had before, and now is not; once, until one is had.",
    ),
    LogEvent("progress_unknown", ("error_type",), "The brokers did not say how far the group is."),
    LogEvent("scoring_process_replaced", ("exit_code",), "A scoring process died or took too long."),
    LogEvent("scoring_process_not_replaced", ("reason",), "No new one could be started: the worker ends."),
    LogEvent("translation_breaker", ("state",), "The circuit breaker changed its state; one line each."),
    LogEvent("document_not_translated", ("document_id", "error_type"), "A document cannot be translated."),
    LogEvent(
        "translation_cache_failed", ("error_type", "setting"), "The file of translations failed; once a kind."
    ),
    LogEvent("translation_failed_unexpectedly", ("error_type",), "A defect; the answer is judged as it is."),
    LogEvent(
        "judge_failing",
        ("judge", "reason", "meaning"),
        "A judge does not reply: once for each reason until its circuit breaker closes again.",
    ),
    LogEvent(
        "judge_breaker", ("judge", "state"), "The circuit breaker before a judge changed; one line each."
    ),
    LogEvent(
        "judge_parameters",
        ("judge", "output", "logprobs", "temperature"),
        "An endpoint refuses parameters of a request, and is asked with these for an hour.",
    ),
    LogEvent("judge_failed_unexpectedly", ("judge", "error_type"), "A defect; the request has no reply."),
    LogEvent("judge_budget_set_aside", ("path",), "Its file was broken, and was renamed; the day is spent."),
    LogEvent(
        "judge_budget_not_kept", ("error_type", "setting"), "What was spent could not be noted; once a kind."
    ),
    LogEvent("kept_opinions_failed", ("error_type", "setting"), "The file of opinions failed; once a kind."),
    LogEvent(
        "sending_held",
        ("message_type", "language", "by", "partition", "offset"),
        "An operator holds what would be sent; also at the start, of what is held then. Why is in the topic, "
        "which `truthgate holds` shows, and in no log.",
    ),
    LogEvent(
        "sending_resumed",
        ("message_type", "language", "by", "partition", "offset"),
        "An operator lets it go again.",
    ),
    LogEvent(
        "hold_removed", ("partition", "offset"), "Somebody deleted a record of the holds: it holds nothing."
    ),
    LogEvent(
        "hold_unreadable",
        ("error_type", "partition", "offset"),
        "What a record of the holds says cannot be told: nothing is sent.",
    ),
    LogEvent("holds_unknown", (), "It is not known any more what is held: nothing is sent."),
    LogEvent("holds_known_again", (), "It is again."),
    LogEvent("holds_topic_unreachable", ("error_type",), "The brokers begin not to say how the holds stand."),
    LogEvent("documents_topic_unreachable", ("topic", "error_type"), "The documents may get out of date."),
    LogEvent("documents_follower_failed", ("reason",), "Documents cannot be followed: the worker ends."),
    LogEvent("documents_store_rebuilt", ("reason", "topic"), "The local documents are read anew."),
    LogEvent("documents_store_set_aside", ("path", "reason"), "Their file was damaged, and was renamed."),
    LogEvent(
        "prepared_file_failed", ("error_type", "setting"), "The file of parsed documents failed; once a kind."
    ),
    LogEvent("company_terms_failed", ("reason",), "The company's words could not be built or read."),
    LogEvent("company_terms_work_again", (), "They could again."),
    LogEvent(
        "retrieval_failed", ("reason",), "Documents could not be searched; once until the reason changes."
    ),
    LogEvent(
        "retrieval_index_failed", ("reason", "path"), "The index could not be brought up to date; likewise."
    ),
    LogEvent("retrieval_index_works_again", (), "It could again."),
    LogEvent("retrieval_index_built_anew", ("reason",), "The index was damaged, and is made again."),
    LogEvent("retrieval_index_progress", ("indexed", "to_do"), "How far a long update of the index is."),
    LogEvent("rates_lead", (), "This worker computes the rates from now on."),
    LogEvent("rates_turn_ends", ("error_type",), "Another worker does, or the topics are others."),
    LogEvent(
        "rates_start_over", ("reason",), "The progress that was kept does not fit: nothing is taken over."
    ),
    LogEvent(
        "rates_state_ignored",
        ("error_type", "records"),
        "Somebody else wrote so many records to the topic of the rates' state, or they are damaged.",
    ),
    LogEvent(
        "rates_begin_late",
        ("reason", "first_window"),
        "Windows before that one (its start in milliseconds) cannot be computed any more.",
    ),
    LogEvent(
        "rates_failed",
        ("error_type", "retry_in"),
        "Computing the rates failed and begins anew from the last committed progress.",
    ),
    LogEvent(
        "rates_thread_failed",
        ("error_type",),
        "A defect: this worker computes no rates until it is started again, and judges all the same.",
    ),
    LogEvent("rates_thread_left", (), "Computing the rates did not end in time, and ends with the process."),
    LogEvent(
        "unreadable_verdict",
        ("error_type", "topic", "partition", "offset"),
        "A record on a verdict topic is none, and counts in no rate.",
    ),
    LogEvent("page_data_failed", ("error_type",), "The page at / has no data for now."),
    LogEvent("telemetry_not_exported", ("signal", "endpoint", "reason"), "Exports by OTLP begin to fail."),
    LogEvent("telemetry_exported_again", ("signal",), "They work again."),
    LogEvent("verdict_not_traced", ("error_type",), "A defect; the verdict is sent as it is."),
    LogEvent("metrics_not_closed", ("error_type",), "The last metrics may not have been exported."),
)
