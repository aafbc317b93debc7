"""The parameters of the methods, all of them numbers and names that a deployment sets."""

from __future__ import annotations

from dataclasses import dataclass

from scoring.judges.examples import Example


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """How a method asks.

    Attributes:
        judges: The names of the models to ask, as the settings name them. Only ``round-table`` asks more
            than the first. A name may stand several times: that model then has several seats.
        temperature: That of every request but the samples of ``cot-sc``; 0 as in papers 002 and 004.
        sample_temperature: That of the samples, which at 0 would all be the same.
        max_tokens: The longest reply. A reply that reaches it is no opinion.
        steps: K of ``adaptive``: the most steps of its reasoning.
        samples: k of ``cot-sc``.
        agents: The seats of ``round-table`` where one model takes them all (paper 004, section II-B: five).
        rounds: The most rounds of ``personas`` and ``round-table``.
        questions: How many questions ``relevance`` and ``questeval`` ask for.
        statements: The most statements, or facts, that an answer may be taken apart into. An answer with
            more is no opinion, since the rest would go unchecked.
        passages: How many passages ``factscore`` checks a fact against.
        longest: The most characters of the documents in one request, and of question and answer together.
        mask: Whether e-mail addresses, telephone and account numbers are masked.
        examples: Rated answers that are shown to the model first.
    """

    judges: tuple[str, ...] = ("judge",)
    temperature: float = 0.0
    sample_temperature: float = 0.6
    max_tokens: int = 2_000
    steps: int = 3
    samples: int = 5
    agents: int = 5
    rounds: int = 3
    questions: int = 4
    statements: int = 20
    passages: int = 4
    longest: int = 24_000
    mask: bool = True
    examples: tuple[Example, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError where a method could not ask anything, or not end."""
        counts = (self.max_tokens, self.steps, self.samples, self.agents, self.rounds)
        if min(*counts, self.questions, self.statements, self.passages, self.longest) < 1:
            raise ValueError("every number of a judge's options is at least 1")
        if not self.judges:
            raise ValueError("at least one judge must be named")
        if min(self.temperature, self.sample_temperature) < 0:
            raise ValueError("a temperature is at least 0")

    @property
    def seats(self) -> tuple[str, ...]:
        """The judges at the round table, one name a seat."""
        return self.judges if len(self.judges) > 1 else self.judges * self.agents
