"""What the tests of the judges share: a case, replies by the name of the form, and a scripted endpoint."""

import json

from scoring.judges import Case, JudgeOptions, ReferenceAnswer, ReferenceDocuments, Reply, ask, drive
from scoring.values.exchange import Passage

QUESTION = "How do I delete an invoice?"
ANSWER = "Open the invoice and press Delete. It can be undone within 30 days."
DOCUMENT = "To delete an invoice, open it and press Delete.\n\nYou can undo this within 14 days."
DOCUMENTS = Case(QUESTION, ANSWER, ReferenceDocuments((Passage("invoices", DOCUMENT, "Invoices"),)))
EXPECTED = Case(
    QUESTION, ANSWER, ReferenceAnswer("Open it and press Delete; within 14 days you can undo it.")
)
CASES = {"documents": DOCUMENTS, "expected": EXPECTED}

_SCORED = {"confidence": 0.9, "score": 5, "wrong": []}
_NUMBER = {"words": "30 days", "kind": "number"}
_UNTRUE = {"confidence": 0.9, "score": 2, "wrong": [_NUMBER]}
_STATEMENTS = [
    {"statement": "To delete an invoice one opens it.", "words": "Open the invoice"},
    {"statement": "It can be undone within 30 days.", "words": "within 30 days"},
]
_SUPPORTED = {"why": "It is there.", "supported": True, "confidence": 0.8, "kind": None}
_QUIZZED = {"question": "Within how many days?", "reply": "30", "weight": 1, "words": "30 days"}

#: A reply that finds the answer true, by the name of its form.
TRUE = {
    "Verdict": {"label": "TRUE", **_SCORED},
    "Refusal": {"why": "", "refuses": False, **_SCORED},
    "Comparison": {"why": "", "relation": "equivalent", **_SCORED},
    "Meaning": {"why": "", "changed": False, **_SCORED},
    "Chain": {
        "steps": [{"question": "", "judgement": "", "explanation": "", "confidence": 0.8}] * 2,
        "explanation": "",
        "label": "TRUE",
        **_SCORED,
    },
    "Evaluation": {"consistent": True, "relevant": True, **_SCORED},
    "Reasoned": {"thoughts": ["It says so."], "consistent": True, "relevant": True, **_SCORED},
    "Argued": {"why": "It says so.", "consistent": True, "relevant": True, **_SCORED},
    "Statements": {"statements": _STATEMENTS, "confidence": 0.95},
    "Supports": {"statements": [{"number": 2, **_SUPPORTED}, {"number": 1, **_SUPPORTED}]},
    "Support": _SUPPORTED,
    "GeneratedQuestions": {
        "questions": ["How can I delete an invoice?", "Can it be undone?"],
        "noncommittal": False,
    },
    "Likenesses": {
        "questions": [{"number": 1, "alike": 1.0}, {"number": 2, "alike": 0.5}],
        "confidence": 0.9,
    },
    "Quiz": {"questions": [_QUIZZED], "confidence": 0.9},
    "QuizAnswers": {"replies": [{"number": 1, "answerable": True, "reply": "14", "confidence": 0.9}]},
    "Pairs": {
        "pairs": [
            {"number": 1, "same": True, "confidence": 0.8},
            {"number": 2, "same": True, "confidence": 0.9},
        ]
    },
}
#: What differs of a reply that finds it untrue.
FALSE = TRUE | {
    "Verdict": {"label": "FALSE", **_UNTRUE},
    "Comparison": {"why": "", "relation": "incorrect", **_UNTRUE},
    "Meaning": {"why": "", "changed": True, **_UNTRUE},
    "Chain": TRUE["Chain"] | {"label": "FALSE", **_UNTRUE},
    "Evaluation": {"consistent": False, "relevant": True, **_UNTRUE},
    "Reasoned": TRUE["Reasoned"] | {"consistent": False, **_UNTRUE},
    "Argued": TRUE["Argued"] | {"consistent": False, **_UNTRUE},
    "Supports": {
        "statements": [
            {"number": 1, **_SUPPORTED},
            {"number": 2, **_SUPPORTED, "supported": False, "kind": "number", "confidence": 0.7},
        ]
    },
    "Support": _SUPPORTED | {"supported": False, "kind": "number", "confidence": 0.7},
    "Pairs": {
        "pairs": [
            {"number": 1, "same": False, "confidence": 0.7},
            {"number": 2, "same": True, "confidence": 0.9},
        ]
    },
}


def reply(content, **others):
    """Return a reply with some content, as JSON where it is no text."""
    text = content if isinstance(content, str) else json.dumps(content)
    return Reply(text, **{"model": "m-1", "tokens_in": 100, "tokens_out": 10, "seconds": 0.5} | others)


class Endpoint:
    """Replies to each request by the name of its form, and keeps the rounds that were asked.

    ``script`` has for each name one content, or a list of them to give one after the other.
    """

    def __init__(self, script):
        self._script = {
            name: list(each) if isinstance(each, list) else [each] for name, each in script.items()
        }
        self.rounds = []

    @property
    def requests(self):
        return [request for requests in self.rounds for request in requests]

    def __call__(self, requests):
        self.rounds.append(requests)
        return [self._outcome(request.schema.name) for request in requests]

    def _outcome(self, name):
        contents = self._script[name]
        content = contents.pop(0) if len(contents) > 1 else contents[0]
        return content if isinstance(content, object) and hasattr(content, "seconds") else reply(content)


def judge(method, script, case=DOCUMENTS, **options):
    """Return (opinion, endpoint) of a method on a script."""
    endpoint = Endpoint(script)
    return drive(ask(case, method, JudgeOptions(**options)), endpoint), endpoint
