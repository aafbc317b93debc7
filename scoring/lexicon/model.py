"""The typed content of a lexicon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scoring.lexicon.phrases import PhraseList
from scoring.types import MessageType

_SHORTEST_STEM = 4
COMPLEXITY_KINDS = ("perspective", "comparison", "example", "reasoning")


@dataclass(frozen=True, slots=True)
class TypePatterns:
    """The phrases that mark one message type; a type may have several such lists."""

    type: MessageType
    phrases: PhraseList


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """The word lists of one language (all words casefolded).

    - ``message_types``: in order, the first list with a hit gives the type; ``if_question`` and
      ``if_statement`` are the types where none hits.
    - ``greetings``, ``closings``: phrases that open or close a message without saying anything.
    - ``lead_ins``: whole lines that introduce a guide and say nothing else.
    - ``complexity``: signal words by kind (see COMPLEXITY_KINDS).
    - ``function_words``: words that carry no content;
      ``fillers`` may differ between two steps that say the same.
    - ``emphasis``: what authors mark bold without naming a component.
    - ``action_verbs``: precede a component ("click Save"); ``instruction_verbs``: open a step's
      title; ``component_nouns``: stand beside one ("the Save button"); ``path_openers``: precede a
      menu path ("go to A > B"); ``keys``: keys of a keyboard.
    - ``step_words``: number a step ("Step 2:"); ``plural_endings``: stripped to compare.
    """

    language: str
    message_types: tuple[TypePatterns, ...]
    if_question: MessageType
    if_statement: MessageType
    greetings: PhraseList
    closings: PhraseList
    lead_ins: frozenset[str]
    complexity: Mapping[str, PhraseList]
    function_words: frozenset[str]
    fillers: frozenset[str]
    emphasis: PhraseList
    action_verbs: frozenset[str]
    instruction_verbs: frozenset[str]
    component_nouns: frozenset[str]
    path_openers: frozenset[str]
    keys: frozenset[str]
    step_words: frozenset[str]
    plural_endings: tuple[str, ...]

    def stem(self, word: str) -> str:
        """Strip a plural ending where enough of the word stays."""
        for ending in self.plural_endings:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
                return word[: -len(ending)]
        return word
