"""The rule of the features that compare what an answer says with what the documents say."""

from scoring.values.rules import Rule, Severity

CONTRADICTED = Rule("contradicted", "A document says the opposite of what the answer says.", Severity.BLOCKS)
