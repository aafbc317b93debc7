"""Documents that are marked to be sent word for word: warnings about those that are not."""

from functools import cached_property

from schemas import KnowledgeDocument
from scoring.lexicon import Lexicon, LexiconError, load_lexicons
from scoring.quotation.quoted_document import sending_problem
from scoring.text.language_detection import language_code
from streams.cli.command_output import printable, say
from streams.pipeline.context import as_published
from streams.settings import InvalidSettings, Settings


class MarkedDocuments:
    """Says on standard error which documents are marked ``auto_send`` in vain, as they come by.

    Args:
        settings: ``scoring.lexicons``, which say how questions begin.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._ids: dict[tuple[str, str], str] = {}

    def check(self, document: KnowledgeDocument) -> None:
        """Warn where a marked document cannot be sent, or has the title of an earlier one.

        Raises:
            InvalidSettings: ``scoring.lexicons`` cannot be used.
        """
        if not document.auto_send:
            return
        language = language_code(document.language) or ""
        if problem := sending_problem(as_published(document), self._lexicons.get(language)):
            self._warn(document, f"but {problem}: it is never sent")
        title = " ".join(document.title.split()).casefold()
        earlier = self._ids.setdefault((language, title), document.document_id)
        if earlier != document.document_id:
            self._warn(document, f"and so is {earlier} of the same title: either may be sent in reply to it")

    @cached_property
    def _lexicons(self) -> dict[str, Lexicon]:
        try:
            return load_lexicons(self._settings.scoring.lexicons)
        except LexiconError as error:
            raise InvalidSettings(f"scoring.lexicons: {error}") from error

    @staticmethod
    def _warn(document: KnowledgeDocument, reason: str) -> None:
        say(printable(f"warning: {document.document_id}: marked auto_send, {reason}"))
