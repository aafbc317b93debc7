"""UI components that no text defines (paper, V-B, "Components Defined")."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from scoring.components.marked_components import components, components_below_headings
from scoring.components.unmarked_components import Component, ComponentName
from scoring.features import Feature
from scoring.figures.tables import figure_stem
from scoring.lexicon import Lexicon
from scoring.text.prepared_text import PreparedExchange, PreparedText
from scoring.text.spans import MAX_EVIDENCE, span_evidence
from scoring.values.checked_claims import ClaimStatus
from scoring.values.exchange import FeatureValue
from scoring.values.rules import Rule, RuleEffect

UNDEFINED_COMPONENT = "undefined_component"
UNDEFINED_PATH = "undefined_path"
MISPLACED_COMPONENT = "misplaced_component"

UNDEFINED_COMPONENT_RULE = Rule(
    "undefined_component",
    "The answer names a button, field or menu path that neither documents nor question define.",
    RuleEffect.BLOCK,
    contradiction=0.9,
    status=ClaimStatus.NOT_FOUND,
    mistake="unspecified_components",
)

# Each distinct name is searched in every text. No support answer has more; the rest counts as undefined.
_MAX_NAMES = 500


class ComponentsDefined(Feature):
    """Share of the named components that the context or the question defines.

    Heuristic: "Unspecified Components". A component is defined where its words are adjacent in a document or
    the question, in any case, markup or number (plural or not). A menu path is defined where its parts also
    follow each other there: in a path, as components of one paragraph, or as a component below the heading
    that names its menu ("The File menu"). The value is in [0, 1]: parts without a fault / named parts; not
    applicable where the answer names no component.

    Evidence: ``undefined_component`` for a name that no text has, ``misplaced_component`` for a part that
    exists but not at this position of its path, ``undefined_path`` where all parts exist but no two of them
    in this order.

    Measured: of the answers whose mistakes name a component all are found, 5 of 5 on the development answers
    and 4 of 4 on those of another product, in Dutch and in English; of 39 and 36 true ones at most one is a
    false positive.

    >>> answer, document = "Click **Save** or **Undo**.", "Click **Save** on the tab **Leave**."
    >>> value = ComponentsDefined().measure(PreparedExchange.of_texts("", answer, document))
    >>> value.value, [evidence.text for evidence in value.evidence]
    (0.5, ['Undo'])
    """

    name = "components_defined"
    evidence_rules = tuple(
        (kind, UNDEFINED_COMPONENT_RULE)
        for kind in (UNDEFINED_COMPONENT, UNDEFINED_PATH, MISPLACED_COMPONENT)
    )

    def measure(self, exchange: PreparedExchange) -> FeatureValue:
        """Return defined parts / named parts."""
        answer = exchange.whole_answer or exchange.answer
        named = answer.cached(components)
        if not named:
            return FeatureValue(self.name, None)
        texts = [exchange.question, *(document.text for document in exchange.context)]
        definitions = _DefinitionLookup([text.cached(text_definitions) for text in texts], answer.lexicon)
        faults = [fault for component in named for fault in definitions.faults(component)]
        faults.sort(key=lambda fault: fault.kind != UNDEFINED_COMPONENT)  # the deciding kind is never cut off
        evidence = tuple(
            found
            for fault in faults[:MAX_EVIDENCE]
            for found in span_evidence(fault.kind, answer, [(fault.start, fault.end)])
        )
        parts = sum(len(component.parts) for component in named)
        return FeatureValue(self.name, 1 - len(faults) / parts, evidence)


@dataclass(frozen=True, slots=True)
class TextDefinitions:
    """The words and stems of a text, and which components follow which in it.

    ``follower_prefixes``: the ``followers`` and their prefixes of whole words.
    """

    words: str
    stems: str
    followers: Mapping[str, set[str]]
    follower_prefixes: Mapping[str, set[str]]


@dataclass(frozen=True, slots=True)
class _ComponentFault:
    kind: str
    start: int
    end: int


def text_definitions(text: PreparedText) -> TextDefinitions:
    """Return what a text defines."""
    stems = (_stem(word, text.lexicon) for word in text.word_texts)
    followers: defaultdict[str, set[str]] = defaultdict(set)
    prefixes: defaultdict[str, set[str]] = defaultdict(set)
    for left, right in _neighbours(text):
        followers[left].add(right)
        prefixes[left].update(accumulate(right.split(" "), "{} {}".format))
    return TextDefinitions(_spaced(text.word_texts), _spaced(stems), followers, prefixes)


def _neighbours(text: PreparedText) -> Iterator[tuple[str, str]]:
    """Yield the keys of components that follow each other in a path, a paragraph, or a menu's heading."""
    names = [name for component in text.cached(components) for name in component.parts]
    for left, right in pairwise(names):
        # Parts of a cut path share a name, which does not follow itself.
        if left is not right and "\n\n" not in text.original[left.end : right.start]:
            yield _key(left.words, text.lexicon), _key(right.words, text.lexicon)
    for heading, component in components_below_headings(text):
        yield _key(heading.words, text.lexicon), _key(component.words, text.lexicon)


class _DefinitionLookup:
    def __init__(self, texts: Iterable[TextDefinitions], lexicon: Lexicon) -> None:
        self._texts = tuple(texts)
        self._lexicon = lexicon
        self._known: dict[tuple[str, ...], bool] = {}
        # Documents without any markup do not define the order of a path.
        self._knows_order = any(text.followers for text in self._texts)

    def faults(self, component: Component) -> list[_ComponentFault]:
        """Return the faults of a component or path, at most one per part."""
        unknown = [part for part in component.parts if not self._is_known(part.words)]
        if unknown:
            return [_ComponentFault(UNDEFINED_COMPONENT, part.start, part.end) for part in unknown]
        if not self._knows_order:
            return []
        steps = list(pairwise(component.parts))
        misplaced = [right for left, right in steps if not self._follows(left, right)]
        if len(misplaced) == len(steps) and steps:
            return [_ComponentFault(UNDEFINED_PATH, *component.span)]
        return [_ComponentFault(MISPLACED_COMPONENT, part.start, part.end) for part in misplaced]

    def _is_known(self, words: tuple[str, ...]) -> bool:
        if words not in self._known:
            without_nouns = _without_nouns(words, self._lexicon)
            self._known[words] = len(self._known) < _MAX_NAMES and (
                self._occurs(words) or (without_nouns != words and self._occurs(without_nouns))
            )
        return self._known[words]

    def _occurs(self, words: tuple[str, ...]) -> bool:
        exact, stems = _spaced(words), _spaced(_stem(word, self._lexicon) for word in words)
        return any(exact in text.words or stems in text.stems for text in self._texts)

    def _follows(self, left: ComponentName, right: ComponentName) -> bool:
        before, after = _key(left.words, self._lexicon), _key(right.words, self._lexicon)
        return any(
            after in (text.follower_prefixes if right.open_ended else text.followers).get(before, ())
            for text in self._texts
        )


def _without_nouns(words: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """Strip component nouns ("button" in "Save button", "knop" in "knop Opslaan"), but keep one word."""
    while len(words) > 1 and words[0] in lexicon.component_nouns:
        words = words[1:]
    while len(words) > 1 and words[-1] in lexicon.component_nouns:
        words = words[:-1]
    return words


def _key(words: tuple[str, ...], lexicon: Lexicon) -> str:
    return " ".join(_stem(word, lexicon) for word in _without_nouns(words, lexicon))


def _stem(word: str, lexicon: Lexicon) -> str:
    return figure_stem(word, lexicon) if lexicon.figures else lexicon.stem(word)


def _spaced(words: Iterable[str]) -> str:
    return f" {' '.join(words)} "
