"""The methods, each a file, and the one table of their names."""

from collections.abc import Mapping
from types import MappingProxyType

from scoring.judges.method import Method
from scoring.judges.methods.decomposing import FACTSCORE, FAITHFULNESS, QUESTEVAL, RELEVANCE
from scoring.judges.methods.discussing import PERSONAS, ROUND_TABLE, SEQUENTIAL
from scoring.judges.methods.prompting import ADAPTIVE, COT, COT_SC, IO, SINGLE

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
