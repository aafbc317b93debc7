"""The scorer: from an exchange to its language, message type, features, claims and score."""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter_ns, time_ns

from scoring.cache.cache_file import PARSE_CACHE_ID, CacheFile
from scoring.claims.claim_checking import check_claims
from scoring.claims.claim_verification import claims_in_doubt, verify_claims
from scoring.company_terms import WatchedTermsFile
from scoring.features.refusal_justified import REFUSAL_JUSTIFIED
from scoring.lexicon import load_lexicons
from scoring.quotation.quoted_document import quoted_document
from scoring.scorer.message_type import message_type
from scoring.scorer.preparation import BilingualExchange, ExchangePreparer, parse_exchange
from scoring.scorer.profile import get_profile
from scoring.scorer.refusal import find_refusal, refusal_feature, refusal_kind
from scoring.text.language_detection import LanguageDetector
from scoring.text.parsing import ParseCache, Parser, PipelineError
from scoring.text.prepared_text import PreparedExchange, TextCache
from scoring.values.checked_claims import CheckedClaim
from scoring.values.exchange import Exchange, FeatureValue, MessageType, Passage, RefusalKind, check_encodable
from scoring.values.rules import Reason
from scoring.values.scored_answer import CacheUse, ScoredAnswer, Timing
from scoring.verifier.onnx import open_verifier


@dataclass(frozen=True, slots=True)
class ScorerOptions:
    """Where the scorer finds what it does not carry itself.

    ``pipelines``: pairs of a language code and the name of an installed spaCy package, or the path of
    a pipeline's folder, that serves this language instead of the default.
    ``cached_characters``: how much text of documents is kept prepared, the least recently used dropped;
    4 million characters are about 2,000 help documents, and take some 25 times as many bytes.
    ``parse_cache``: a file in which the parses of documents outlive the process, shared by those of one
    machine and bounded by ``parse_cache_mib``; None to keep none. Only documents that come from the
    store of documents (``Passage.version``) are kept there, never questions, answers, or what came with them.
    ``lexicons``: a folder of lexicon files (``fr.toml``) for further languages, each of which needs a
    pipeline too, or instead of those of the package.
    ``company_terms``: the file that ``truthgate company-terms build`` writes, or None to do without.
    ``on_demand``: whether a default pipeline is loaded when the first text of its language comes, which
    makes that one wait, instead of at the start; scoring processes do not count it in the answer's time.
    ``verifier``: the folder of a cross-encoder that is asked about claims in doubt
    (:func:`scoring.verifier.onnx.open_verifier`), or None to ask none; ``verifier_seconds``: for how long, an
    answer. Only a profile that checks claims opens it.
    ``timed``: whether an assessment tells when each part of it began and ended.
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
    """Takes the times of parts, in order, on a clock that starts as the system's and never goes back.

    One that is not ``running`` takes none.
    """

    def __init__(self, *, running: bool = True) -> None:
        self._running = running
        self._ahead = time_ns() - perf_counter_ns()
        self._taken: list[Timing] = []

    @property
    def timings(self) -> tuple[Timing, ...]:
        """What has been taken so far."""
        return tuple(self._taken)

    def part(self, name: str) -> AbstractContextManager[None]:
        """Take the time of what is inside."""
        return self._taking(name) if self._running else nullcontext()

    @contextmanager
    def _taking(self, name: str) -> Iterator[None]:
        began = perf_counter_ns()
        try:
            yield
        finally:
            self._taken.append(Timing(name, began + self._ahead, perf_counter_ns() + self._ahead))


_ENGLISH = "en"
_NO_OPTIONS = ScorerOptions()


class Scorer:
    """Assesses answers by one profile; what becomes of them is for a policy to decide.

    Making one reads the lexicons, the language model, the verifier if one is named and, unless they are
    wanted on demand, the spaCy pipelines of the native languages (about three seconds); assessing is then
    deterministic, but for what a verifier has no time for, and keeps nothing but prepared documents. Not safe
    for use by several threads. Raises ValueError for an unknown profile, LexiconError for a lexicon that
    cannot be read, PipelineError for a pipeline that cannot be loaded, or is for a language without a
    lexicon, and NoVerifier for a verifier that cannot be opened.
    """

    def __init__(
        self,
        profile: str = "truthgate",
        options: ScorerOptions = _NO_OPTIONS,
        loading_context: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """Prepare to assess by the profile of that name.

        Each pipeline is loaded within what ``loading`` makes: whoever times an answer learns from it what
        is no part of assessing.
        """
        self._profile = get_profile(profile)
        self._timed = options.timed
        named = options.verifier if self._profile.checks_claims else None
        self._verifier = open_verifier(named) if named else None
        self._verifier_seconds = options.verifier_seconds
        self._lexicons = load_lexicons(options.lexicons)
        self._languages = LanguageDetector(self._lexicons.values())
        parser = _make_parser(options, self._lexicons, loading_context)
        self._parse_cache_file = (
            CacheFile(options.parse_cache, PARSE_CACHE_ID, options.parse_cache_mib)
            if options.parse_cache
            else None
        )
        kept = ParseCache(self._parse_cache_file, parser) if self._parse_cache_file else None
        if kept and not options.on_demand:
            kept.load_fingerprints(self._lexicons)
        documents = TextCache(options.cached_characters, parser, kept)
        needed = options.company_terms if self._profile.needs_company_terms else None
        terms = WatchedTermsFile(needed) if needed else None
        english = self._lexicons[_ENGLISH]
        self._preparer = ExchangePreparer(parser, english, terms, documents)

    @property
    def languages(self) -> frozenset[str]:
        """The languages that can be assessed as they come."""
        return frozenset(self._lexicons)

    @property
    def cache_use(self) -> CacheUse:
        """How often a document has been found prepared since the start, and how often not."""
        return self._preparer.use

    def close(self) -> None:
        """Close the file of prepared documents, if there is one; assessing goes on without it."""
        if self._parse_cache_file:
            self._parse_cache_file.close()

    def score(self, exchange: Exchange, degraded: tuple[str, ...] = ()) -> ScoredAnswer:
        """Return the assessment of one answer; ``degraded`` says what could not be had for it.

        A stated language is trusted where it is a valid code: the platform knows its customer, and
        phrases of a wrong lexicon are not found, which ends in review. Without context there is no
        score, and none in a language that has no lexicon, unless the exchange comes with its translation.
        Raises LoneSurrogateError for half of a character in a text.
        """
        check_encodable(exchange)
        watch, before = Stopwatch(running=self._timed), self._preparer.use
        with watch.part("language"):
            language = self._languages.detect_exchange(exchange)
            context = tuple(passage for passage in exchange.context if passage.text.strip())
            gaps = dict.fromkeys(map(str, (*degraded, *self._gaps(exchange, context, language))))
        unscored = ScoredAnswer(
            None, MessageType.UNSPECIFIED, language, degraded=tuple(gaps), profile=self._profile.name
        )
        found = self._measure(unscored, exchange, context, watch)
        return replace(found, cache_use=self._use_since(before), timings=watch.timings)

    def _use_since(self, before: CacheUse) -> CacheUse:
        after = self._preparer.use
        return CacheUse(
            after.hits - before.hits,
            after.misses - before.misses,
            after.disk_hits - before.disk_hits,
            self._parse_cache_file.take_failures() if self._parse_cache_file else (),
        )

    def _gaps(self, exchange: Exchange, context: tuple[Passage, ...], language: str | None) -> Iterator[str]:
        if language not in self._lexicons and exchange.translation is None:
            yield Reason.LANGUAGE_UNSUPPORTED
        if not context:
            yield Reason.CONTEXT_MISSING
        elif any(self._is_in_other_language(passage, language) for passage in context):
            yield Reason.CONTEXT_LANGUAGE_DIFFERS

    def _is_in_other_language(self, passage: Passage, language: str | None) -> bool:
        return self._languages.detect(passage.text) not in (None, language)

    def _measure(
        self, unscored: ScoredAnswer, exchange: Exchange, context: tuple[Passage, ...], watch: Stopwatch
    ) -> ScoredAnswer:
        language = unscored.language
        with watch.part("message type"):
            question = self._preparer.prepare_question(exchange, self._lexicons.get(language or ""))
            if question is None:
                return replace(unscored, reason=Reason.LANGUAGE_UNSUPPORTED)
            kind = message_type(question)
        with watch.part("refusal"):
            refused = find_refusal(self._preparer.prepare_answer(exchange, question), question)
        about = refusal_feature(refused)
        unscored = replace(unscored, message_type=kind, refusal=refusal_kind(refused), features=about)
        if kind not in self._profile.message_types:
            return replace(unscored, reason=Reason.MESSAGE_TYPE_NOT_SCORED)
        if not context:
            return replace(unscored, reason=Reason.CONTEXT_MISSING)
        if all(self._is_in_other_language(passage, language) for passage in context):
            return replace(unscored, reason=Reason.CONTEXT_LANGUAGE_DIFFERS)
        with watch.part("parse"):
            materials = self._preparer.prepare_exchange(exchange, question, context)
            parse_exchange(materials.english)
        materials, gaps = self._verify_claims(materials, watch)
        if lexicon := self._lexicons.get(language or ""):
            quoted = quoted_document(exchange, lexicon, self._languages.detect)
            materials = replace(materials, original=replace(materials.original, quoted_document_id=quoted))
        values = tuple(self._measure_features(materials, watch))
        score = self._profile.score(values, self._profile.rules)
        claims = self._check_claims(materials.original, values, watch) if self._profile.checks_claims else ()
        return replace(
            unscored,
            score=score.value,
            reason=score.reason,
            degraded=(*unscored.degraded, *gaps),
            refusal=_refusal_kind_with_features(unscored.refusal, values),
            features=(*values, *about),
            translated=exchange.translation is not None,
            claims=claims,
            support=score.support,
            contradiction=score.contradiction,
        )

    def _verify_claims(
        self, materials: BilingualExchange, watch: Stopwatch
    ) -> tuple[BilingualExchange, tuple[str, ...]]:
        """Have the claims in doubt verified, if by anyone; return what could not be, too."""
        if self._verifier is None:
            return materials, ()
        texts = materials.original
        with watch.part("claims in doubt"):
            doubtful = claims_in_doubt(texts)
        with watch.part("verifier"):
            language = texts.answer.lexicon.language
            found = verify_claims(self._verifier, doubtful, language, self._verifier_seconds)
        texts = replace(texts, support_probabilities=found.support_probabilities)
        return replace(materials, original=texts), tuple(map(str, found.gaps))

    def _check_claims(
        self, material: PreparedExchange, values: tuple[FeatureValue, ...], watch: Stopwatch
    ) -> tuple[CheckedClaim, ...]:
        with watch.part("claims"):
            evidence = [each for value in values for each in value.evidence]
            return check_claims(material, evidence, self._profile.rules)

    def _measure_features(self, materials: BilingualExchange, watch: Stopwatch) -> Iterator[FeatureValue]:
        for group in self._profile.groups:
            with watch.part(f"features {group.name}"):
                for feature in group.features:
                    yield feature.measure(
                        materials.english if feature.uses_translation else materials.original
                    )


def _refusal_kind_with_features(kind: RefusalKind, values: tuple[FeatureValue, ...]) -> RefusalKind:
    """Return how an answer refuses, given that a claim of it may do so in words that no phrase list has."""
    refused = any(value.name == REFUSAL_JUSTIFIED and value.value is not None for value in values)
    return RefusalKind.PARTIAL if refused and kind is RefusalKind.NONE else kind


def _make_parser(
    options: ScorerOptions,
    languages: Collection[str],
    loading_context: Callable[[], AbstractContextManager[None]],
) -> Parser:
    """Make the parser of these languages; raises PipelineError."""
    named = dict(options.pipelines)
    if unknown := sorted(named.keys() - set(languages)):
        known = ", ".join(sorted(languages))
        raise PipelineError(f"language {unknown[0]!r} has a pipeline and no lexicon, as {known} have")
    parser = Parser(named, loading_context)
    for language in languages:
        if options.on_demand:
            parser.check(language)
        else:
            parser.load(language)
    return parser
