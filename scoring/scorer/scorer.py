"""The scorer: from an exchange to its language, message type, features, claims and score."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from time import perf_counter_ns, time_ns

from scoring.cache.cache_file import PARSE_CACHE_ID, CacheFile
from scoring.claims.claim_checking import check_claims
from scoring.claims.claim_verification import claims_in_doubt, verify_claims
from scoring.company_terms import WatchedTermsFile
from scoring.features.claim_support import REFUSAL_JUSTIFIED
from scoring.lexicon import load_lexicons
from scoring.quotation.quoted_document import quoted_document
from scoring.scorer.classification import REFUSAL, find_refusal, message_type
from scoring.scorer.preparation import BilingualExchange, ExchangePreparer, unparsed_texts
from scoring.scorer.profile import get_profile
from scoring.scorer.standalone_question import is_standalone
from scoring.text.language_detection import LanguageDetector
from scoring.text.parsing import LazyParse, ParseCache, Parser, PipelineError, parse_together
from scoring.text.prepared_text import TextCache
from scoring.values.checked_claims import CheckedClaim
from scoring.values.exchange import Exchange, FeatureValue, MessageType, Passage, RefusalKind, check_encodable
from scoring.values.rules import Reason
from scoring.values.scored_answer import CacheUse, ScoredAnswer, Timing
from scoring.verifier.onnx import open_verifier


@dataclass(frozen=True, slots=True)
class ScorerOptions:
    """The scorer's resources.

    ``pipelines``: pairs of a language code and an installed spaCy package, or the path of a pipeline's
    folder, instead of the default. ``cached_characters``: the bound on the memory cache of documents; 4
    million characters are about 2,000 help documents, and take some 25 times as many bytes. ``parse_cache``:
    a file that keeps parses of documents, shared by the processes of a machine and bounded by
    ``parse_cache_mib``; None for no file. Only documents from the store (``Passage.version``) are cached
    there, never questions, answers, or passages that came with them. ``lexicons``: a folder of lexicon files
    (``fr.toml``) that add languages, each of which needs a pipeline too, or replace the package's.
    ``company_terms``: the file that ``truthgate company-terms build`` writes, if any. ``on_demand``: whether
    a default pipeline is loaded at the first text of its language, not at the start; scoring processes
    exclude the loading from the answer's time. ``verifier``: the folder of a cross-encoder for claims in
    doubt (:func:`scoring.verifier.onnx.open_verifier`), if any, opened only for a profile that checks claims;
    ``verifier_seconds``: its timeout per answer. ``timed``: whether a score has the timings of its stages.
    """

    pipelines: tuple[tuple[str, str], ...] = ()
    company_terms: Path | None = None
    cached_characters: int = 4_000_000
    lexicons: Path | None = None
    parse_cache: Path | None = None
    parse_cache_mib: int = 500
    on_demand: bool = False
    verifier: Path | None = None
    verifier_seconds: float = 0.5
    timed: bool = False


class Stopwatch:
    """Records the timings of stages on a monotonic clock that is aligned with the system clock at the start.

    It records nothing unless ``running``.
    """

    def __init__(self, *, running: bool = True) -> None:
        self._running = running
        self._ahead = time_ns() - perf_counter_ns()
        self._timings: list[Timing] = []

    @property
    def timings(self) -> tuple[Timing, ...]:
        """The timings so far."""
        return tuple(self._timings)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Record the time of the block."""
        began = perf_counter_ns()
        try:
            yield
        finally:
            if self._running:
                self._timings.append(Timing(name, began + self._ahead, perf_counter_ns() + self._ahead))


@dataclass(frozen=True, slots=True)
class PreparedScoring:
    """One answer between :meth:`Scorer.prepare` and :meth:`Scorer.finish`.

    ``unscored``: all that is known without a parse. ``texts``: None where nothing is left to be measured.
    """

    exchange: Exchange
    unscored: ScoredAnswer
    texts: BilingualExchange | None
    watch: Stopwatch


_ENGLISH = "en"

#: As many characters as one long text has; they take about a second.
_MAX_PARSED_TOGETHER = 50_000

_NO_OPTIONS = ScorerOptions()


class Scorer:
    """Scores answers by one profile; a policy decides on them. Not thread-safe.

    Creating it loads the lexicons, the language model, the verifier if there is one and, unless loaded on
    demand, the spaCy pipelines (about three seconds). Scoring is deterministic, except for claims that exceed
    the verifier's timeout, and keeps nothing but prepared documents.

    Raises:
        ValueError: the profile is unknown.
        LexiconError: a lexicon cannot be read.
        PipelineError: a pipeline cannot be loaded, or its language has no lexicon.
        VerifierUnavailable: the verifier cannot be opened.
    """

    def __init__(
        self,
        profile: str = "truthgate",
        options: ScorerOptions = _NO_OPTIONS,
        loading_context: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Load what the profile needs; each pipeline is loaded inside ``loading_context``."""
        self._profile = get_profile(profile)
        self._timed = options.timed
        folder = options.verifier if self._profile.checks_claims else None
        self._verifier = open_verifier(folder) if folder else None
        self._verifier_seconds = options.verifier_seconds
        self._lexicons = load_lexicons(options.lexicons)
        self._languages = LanguageDetector(self._lexicons.values())
        parser = _make_parser(options, self._lexicons, loading_context)
        self._parse_cache_file = (
            CacheFile(options.parse_cache, PARSE_CACHE_ID, options.parse_cache_mib)
            if options.parse_cache
            else None
        )
        parse_cache = ParseCache(self._parse_cache_file, parser) if self._parse_cache_file else None
        if parse_cache and not options.on_demand:
            parse_cache.load_fingerprints(self._lexicons)
        documents = TextCache(options.cached_characters, parser, parse_cache)
        terms_path = options.company_terms if self._profile.needs_company_terms else None
        terms = WatchedTermsFile(terms_path) if terms_path else None
        self._preparer = ExchangePreparer(parser, self._lexicons[_ENGLISH], terms, documents)

    @property
    def languages(self) -> frozenset[str]:
        """The languages that can be scored without translation."""
        return frozenset(self._lexicons)

    @property
    def cache_use(self) -> CacheUse:
        """Cache hits and misses of documents since the start."""
        return self._preparer.cache_use

    def close(self) -> None:
        """Close the file of cached parses, if there is one; scoring continues without it."""
        if self._parse_cache_file:
            self._parse_cache_file.close()

    def score(self, exchange: Exchange, degraded: tuple[str, ...] = ()) -> ScoredAnswer:
        """Return the score of one answer; ``degraded`` are codes of what is missing for it.

        A stated language is trusted if it is a valid code: the platform knows its customer, and phrases of a
        wrong lexicon are not found, which ends in review. There is no score without context, or in a language
        without a lexicon unless the exchange has its translation. Raises LoneSurrogateError for a lone
        surrogate in a text.
        """
        prepared = self.prepare(exchange, degraded)
        self.parse([prepared])
        return self.finish(prepared)

    def prepare(self, exchange: Exchange, degraded: tuple[str, ...] = ()) -> PreparedScoring:
        """Do what comes before the parse; raises as :meth:`score` does."""
        check_encodable(exchange)
        watch, before = Stopwatch(running=self._timed), self._preparer.cache_use
        with watch.part("language"):
            language = self._languages.detect_exchange(exchange)
            context = tuple(passage for passage in exchange.context if passage.text.strip())
            gaps = dict.fromkeys(map(str, (*degraded, *self._gaps(exchange, context, language))))
        unscored = ScoredAnswer(
            None, MessageType.UNSPECIFIED, language, degraded=tuple(gaps), profile=self._profile.name
        )
        unscored, texts = self._prepare_texts(unscored, exchange, context, watch)
        after = self._preparer.cache_use
        cache_use = CacheUse(
            after.hits - before.hits, after.misses - before.misses, after.disk_hits - before.disk_hits
        )
        return PreparedScoring(exchange, replace(unscored, cache_use=cache_use), texts, watch)

    def parse(self, prepared: Iterable[PreparedScoring]) -> None:
        """Parse the texts of one or several answers together, with the same parses as one by one.

        Each answer's timings show the whole parse. Texts beyond a number of characters are left to
        :meth:`finish`, so that no batch takes longer than one long answer. Raises PipelineError.
        """
        with ExitStack() as parts:
            unparsed: list[LazyParse] = []
            for each in prepared:
                if each.texts is not None:
                    parts.enter_context(each.watch.part("parse"))
                    unparsed += unparsed_texts(each.texts.english)
            characters = accumulate(len(text.text) for text in unparsed)
            fitting = bisect_right(list(characters), _MAX_PARSED_TOGETHER)
            parse_together(unparsed[:fitting])

    def finish(self, prepared: PreparedScoring) -> ScoredAnswer:
        """Measure what was prepared; what :meth:`parse` left out is parsed here."""
        scored, watch = prepared.unscored, prepared.watch
        if prepared.texts is not None:
            scored = self._measure(scored, prepared.exchange, prepared.texts, watch)
        if self._parse_cache_file and (failures := self._parse_cache_file.take_failures()):
            scored = replace(scored, cache_use=replace(scored.cache_use, failures=failures))
        return replace(scored, timings=watch.timings)

    def _gaps(self, exchange: Exchange, context: tuple[Passage, ...], language: str | None) -> Iterator[str]:
        if language not in self._lexicons and exchange.translation is None:
            yield Reason.LANGUAGE_UNSUPPORTED
        if not context:
            yield Reason.CONTEXT_MISSING
        elif any(self._is_in_other_language(passage, language) for passage in context):
            yield Reason.CONTEXT_LANGUAGE_DIFFERS

    def _is_in_other_language(self, passage: Passage, language: str | None) -> bool:
        return self._languages.detect(passage.text) not in (None, language)

    def _prepare_texts(
        self, unscored: ScoredAnswer, exchange: Exchange, context: tuple[Passage, ...], watch: Stopwatch
    ) -> tuple[ScoredAnswer, BilingualExchange | None]:
        """Return what is known without a parse, and the texts to measure, if there is anything to measure."""
        language = unscored.language
        with watch.part("message type"):
            question = self._preparer.prepare_question(exchange, self._lexicons.get(language or ""))
            if question is None:
                return replace(unscored, reason=Reason.LANGUAGE_UNSUPPORTED), None
            kind = message_type(question)
        with watch.part("refusal"):
            refusal = find_refusal(self._preparer.prepare_answer(exchange, question), question)
        # A feature without a value, since a refusal does not affect the score.
        refusal_values = (FeatureValue(REFUSAL, None, refusal.evidence),) if refusal else ()
        refusal_kind = refusal.kind if refusal else RefusalKind.NONE
        unscored = replace(unscored, message_type=kind, refusal=refusal_kind, features=refusal_values)
        if kind not in self._profile.message_types:
            return replace(unscored, reason=Reason.MESSAGE_TYPE_NOT_SCORED), None
        if not context:
            return replace(unscored, reason=Reason.CONTEXT_MISSING), None
        if all(self._is_in_other_language(passage, language) for passage in context):
            return replace(unscored, reason=Reason.CONTEXT_LANGUAGE_DIFFERS), None
        with watch.part("prepare"):
            return unscored, self._preparer.prepare_exchange(exchange, question, context)

    def _measure(
        self, unscored: ScoredAnswer, exchange: Exchange, texts: BilingualExchange, watch: Stopwatch
    ) -> ScoredAnswer:
        texts, gaps = self._verify_claims(texts, watch)
        if lexicon := self._lexicons.get(unscored.language or ""):
            quoted = quoted_document(exchange, lexicon, self._languages.detect)
            texts = replace(texts, original=replace(texts.original, quoted_document_id=quoted))
            unscored = replace(unscored, is_standalone=is_standalone(texts.original.question))
        values = tuple(self._measure_features(texts, watch))
        score = self._profile.score(values, self._profile.rules)
        claims: tuple[CheckedClaim, ...] = ()
        if self._profile.checks_claims:
            with watch.part("claims"):
                evidence = [each for value in values for each in value.evidence]
                claims = check_claims(texts.original, evidence, self._profile.rules)
        # A claim may refuse in words that no list of refusal phrases has.
        refuses = any(value.name == REFUSAL_JUSTIFIED and value.value is not None for value in values)
        is_partial = refuses and unscored.refusal is RefusalKind.NONE
        return replace(
            unscored,
            score=score.value,
            reason=score.reason,
            degraded=(*unscored.degraded, *gaps),
            refusal=RefusalKind.PARTIAL if is_partial else unscored.refusal,
            features=(*values, *unscored.features),
            translated=exchange.translation is not None,
            claims=claims,
            support=score.support,
            contradiction=score.contradiction,
        )

    def _verify_claims(
        self, texts: BilingualExchange, watch: Stopwatch
    ) -> tuple[BilingualExchange, tuple[str, ...]]:
        """Predict the claims in doubt with the verifier, if any; return its gaps too."""
        if self._verifier is None:
            return texts, ()
        original = texts.original
        with watch.part("claims in doubt"):
            inputs = claims_in_doubt(original)
        with watch.part("verifier"):
            language = original.answer.lexicon.language
            result = verify_claims(self._verifier, inputs, language, self._verifier_seconds)
        original = replace(original, support_probabilities=result.support_probabilities)
        return replace(texts, original=original), tuple(map(str, result.gaps))

    def _measure_features(self, texts: BilingualExchange, watch: Stopwatch) -> Iterator[FeatureValue]:
        for group in self._profile.groups:
            with watch.part(f"features {group.name}"):
                for feature in group.features:
                    yield feature.measure(texts.english if feature.uses_translation else texts.original)


def _make_parser(
    options: ScorerOptions,
    languages: Collection[str],
    loading_context: Callable[[], AbstractContextManager[None]],
) -> Parser:
    """Create the parser of these languages; raises PipelineError."""
    pipelines = dict(options.pipelines)
    if unknown := sorted(pipelines.keys() - set(languages)):
        known = ", ".join(sorted(languages))
        raise PipelineError(f"language {unknown[0]!r} has a pipeline and no lexicon, as {known} have")
    parser = Parser(pipelines, loading_context)
    for language in languages:
        if options.on_demand:
            parser.check(language)
        else:
            parser.load(language)
    return parser
