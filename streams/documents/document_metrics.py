"""Metrics of documents and company terms."""

from scoring.company_terms import CompanyTerms
from streams.observability.instruments import Instruments, MetricLabel


class DocumentMetrics:
    """The instruments of the local copy of the documents."""

    def __init__(self, instruments: Instruments) -> None:
        self.stored = instruments.gauge(
            "truthgate.documents",
            "Documents in the local store.",
            "A fall: tombstones on the documents topic; the log line `documents_store_rebuilt`.",
            unit="{document}",
        )
        self.bad = instruments.counter(
            "truthgate.bad_documents",
            "Documents that could not be read.",
            "The log line `bad_document`; the dead letters; the publisher of the documents.",
            unit="{document}",
        )
        self._terms = instruments.gauge(
            "truthgate.company_terms",
            "Words known as the company's own.",
            "None: fewer than 20 documents.",
            MetricLabel("language"),
            unit="{term}",
        )
        self.terms_age = instruments.gauge(
            "truthgate.company_terms_age",
            "Time since the company's words were last known to agree with the documents or their file.",
            "The log line `company_terms_failed`.",
            unit="s",
        )
        self.terms_failures = instruments.counter(
            "truthgate.company_terms_failures",
            "Times that the company's words could not be built or read.",
            "The log line `company_terms_failed`; `company_terms.file`.",
        )

    def show_terms(self, terms: CompanyTerms) -> None:
        """Show how many terms each language has."""
        self._terms.replace({(code,): len(found.counts) for code, found in terms.languages.items()})
