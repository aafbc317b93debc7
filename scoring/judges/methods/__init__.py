"""The methods, each a file, and the one table of their names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from scoring.judges.judgement import Method
from scoring.judges.methods.adaptive import ADAPTIVE
from scoring.judges.methods.cot import COT
from scoring.judges.methods.cot_sc import COT_SC
from scoring.judges.methods.factscore import FACTSCORE
from scoring.judges.methods.faithfulness import FAITHFULNESS
from scoring.judges.methods.io import IO
from scoring.judges.methods.personas import PERSONAS
from scoring.judges.methods.questeval import QUESTEVAL
from scoring.judges.methods.relevance import RELEVANCE
from scoring.judges.methods.round_table import ROUND_TABLE
from scoring.judges.methods.sequential import SEQUENTIAL
from scoring.judges.methods.single import SINGLE

_ALL = (
    SINGLE,
    SEQUENTIAL,
    ADAPTIVE,
    IO,
    COT,
    COT_SC,
    PERSONAS,
    ROUND_TABLE,
    RELEVANCE,
    FAITHFULNESS,
    FACTSCORE,
    QUESTEVAL,
)

#: Every method by its name in the settings.
METHODS: Mapping[str, Method] = MappingProxyType({method.name: method for method in _ALL})
