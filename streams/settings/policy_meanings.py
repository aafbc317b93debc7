"""The meanings of the policy's settings: it is a plain value of the scorer, which knows no settings."""

from __future__ import annotations

from typing import Final

POLICY_MEANINGS: Final = {
    "version": "what verdicts call this policy; a hash follows where it is not as shipped",
    "auto_send_at": "a score from this on is sent; 5: none is, not even 5, only what a rule sends",
    "block_below": "a score below this is blocked; 1: none is, only what a rule blocks",
    "unscored": "what becomes of message types that the profile does not score",
    "refusal": "what becomes of an answer that says that it has none: never blocked",
    "declined": "what becomes of an answer of which a judge says that it rightly has none: never blocked",
    "overrides": "other values for a message type, a language, or a type in a language; of several the last",
    "ask": "which decisions, or reasons, are in doubt: judges are asked about these",
    "ask_never": "reasons that are never in doubt",
    "ask_from": "the lowest score that is in doubt",
    "ask_to": "the highest score that is in doubt",
    "send_confidence": "how sure an opinion must be that an answer is true, to send it",
    "block_confidence": "how sure an opinion must be that an answer is untrue, to block it",
    "hold": "on: nothing is sent by itself; what would be goes to review",
    "overrides.message_type": "the message type; unset: any",
    "overrides.language": "the language, such as nl; unset: any",
}
