"""The contract: records, their Avro schemas, and their encodings on Kafka and in files."""

from schemas.codec import Codec
from schemas.jsonl import BadLine, read_jsonl
from schemas.records import (
    ChatbotAnswer,
    ContextPassage,
    KnowledgeDocument,
    Pause,
    RateAlert,
    RatedAnswer,
    RateWindow,
    Record,
    Review,
    Verdict,
    VerdictClaim,
    VerdictClaimSource,
    VerdictEvidence,
    VerdictFeature,
    VerdictOpinion,
    VerdictPassage,
    VerdictSpan,
    WrongSpan,
)
from schemas.validation import DecodeError, EncodeError, RegistryUnreachable, to_json

__all__ = [
    "BadLine",
    "ChatbotAnswer",
    "Codec",
    "ContextPassage",
    "DecodeError",
    "EncodeError",
    "KnowledgeDocument",
    "Pause",
    "RateAlert",
    "RateWindow",
    "RatedAnswer",
    "Record",
    "RegistryUnreachable",
    "Review",
    "Verdict",
    "VerdictClaim",
    "VerdictClaimSource",
    "VerdictEvidence",
    "VerdictFeature",
    "VerdictOpinion",
    "VerdictPassage",
    "VerdictSpan",
    "WrongSpan",
    "read_jsonl",
    "to_json",
]
