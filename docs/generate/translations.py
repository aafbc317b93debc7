"""The catalogues of the desk's texts: every text of its templates and modules, and of what verdicts name."""

from collections.abc import Iterator
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.extract import DEFAULT_KEYWORDS, extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from scoring.claims.claim_checking import CONTEXT_LIMITATION, NON_APPEARING
from scoring.scorer.profile import DESCRIPTIONS, RULES_BY_KIND
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import Decision, MessageType
from scoring.values.opinion import Label, Mistake, UnsureReason
from streams.desk.answer_view import UNCHECKED
from streams.desk.decisions import EXPIRED, NONE, REJECT, SEND, SEND_EDITED
from streams.desk.desk_login import ERROR_TEXTS
from streams.desk.desk_pages import NOTICES
from streams.desk.desk_state import FILTERS
from streams.desk.known_answers_page import KNOWN_ANSWER_NOTICES
from streams.desk.page_templates import TIME_FORMAT
from streams.desk.policy_publishing import POLICY_NOTICES
from streams.explaining.explanation import NEXT_STEPS
from streams.pipeline.verdict import FAULTS
from streams.reviews.policy_records import Change
from streams.reviews.policy_state import PolicyStatus
from streams.web.excerpt import LACKING

DESK: Final = Path(__file__).parents[2] / "streams" / "desk"
_METHODS: Final = [("**.py", "python"), ("**.html", "jinja2.ext:babel_extract")]
_OPTIONS: Final = {"**.html": {"silent": "false"}}
_CALLS: Final = (
    "OidcRefusal",
    "HTTPForbidden",
    "HTTPBadRequest",
    "HTTPTooManyRequests",
    "HTTPUnauthorized",
    "HTTPServiceUnavailable",
)
#: Codes whose words are shown: ``not_found`` as "not found".
_CODES: Final = (
    *(SEND, SEND_EDITED, REJECT, EXPIRED, NONE, "blocked", LACKING, UNCHECKED),
    *(*FILTERS, *Label, *ClaimStatus, *MessageType, *Mistake, *UnsureReason, *FAULTS),
    *(*Change, *PolicyStatus, *Decision, NON_APPEARING, CONTEXT_LIMITATION),
    *(rule.mistake for rule in RULES_BY_KIND.values() if rule and rule.mistake),
)


def texts() -> Catalog:
    """Return all texts without translations."""
    catalog = Catalog(fuzzy=False)
    keywords = {**DEFAULT_KEYWORDS, **dict.fromkeys(_CALLS), "_login_page": (2,)}
    for _, _, message, _, _ in extract_from_dir(str(DESK), _METHODS, _OPTIONS, keywords):
        catalog.add(message)
    for text in _named():
        catalog.add(text)
    return catalog


def _named() -> Iterator[str]:
    words = (code.replace("_", " ").lower() for code in _CODES)
    tables = (DESCRIPTIONS, NEXT_STEPS, NOTICES, KNOWN_ANSWER_NOTICES, POLICY_NOTICES, ERROR_TEXTS)
    return chain(words, (TIME_FORMAT,), *(each.values() for each in tables))


def translations(path: Path) -> Catalog:
    """Return the translations of a file for the texts that are there now."""
    with path.open("rb") as file:
        catalog = read_po(file)
    catalog.update(texts(), no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    return catalog


def catalogue_files() -> dict[Path, bytes]:
    """Return the catalogues as they are translated, and as they are read, by their paths."""
    found = dict[Path, bytes]()
    for path in sorted(DESK.glob("locale/*/LC_MESSAGES/desk.po")):
        catalog, text, compiled = translations(path), BytesIO(), BytesIO()
        write_po(text, catalog, no_location=True, sort_output=True, width=110)
        write_mo(compiled, catalog)
        found |= {path: text.getvalue(), path.with_suffix(".mo"): compiled.getvalue()}
    return found
