"""An answer, and the opinion of a language model on it."""

from scoring.values.exchange import Evidence
from scoring.values.opinion import Label, Mistake, Opinion, Usage

ANSWER = "Open the invoice and press Delete. It can be undone within 30 days."
OPINION = Opinion(
    "single",
    ("m-1",),
    "v1",
    Label.FALSE,
    0.9,
    score=2,
    wrong=(Evidence("number", "30 days", 59, 66),),
    mistakes=(Mistake.NUMBER,),
    usage=Usage(1, 100, 10, 0.5),
)
