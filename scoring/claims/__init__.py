"""The claims of a text, clause by clause, and the clauses of a document that speak of the same."""

from scoring.claims.alignment import FEWEST_WORDS, Aligned, Asked, aligned, coverage
from scoring.claims.known import Known, known
from scoring.claims.quantities import Quantity, numbers, quantities, units
from scoring.claims.question import Question, alike, content_words, question_of, replies
from scoring.claims.reading import Claim, Sentence, content_of, have_opposites, opposed, sentences
from scoring.claims.verdict import Verdict, verdict

__all__ = [
    "FEWEST_WORDS",
    "Aligned",
    "Asked",
    "Claim",
    "Known",
    "Quantity",
    "Question",
    "Sentence",
    "Verdict",
    "aligned",
    "alike",
    "content_of",
    "content_words",
    "coverage",
    "have_opposites",
    "known",
    "numbers",
    "opposed",
    "quantities",
    "question_of",
    "replies",
    "sentences",
    "units",
    "verdict",
]
