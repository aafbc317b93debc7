"""The JSON schema of a form, for the endpoint, and its description in words, for the model."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from scoring.judges.replies.forms import Form
from scoring.judges.requests import ReplySchema

# What every endpoint with structured output takes (OpenAI's strict mode has the fewest).
_KEPT = {"type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "description"}
_INDENT = "  "


@cache
def reply_schema(form: type[Form]) -> ReplySchema:
    """Return the schema of a form without references and without limits."""
    return ReplySchema(form.__name__, json.dumps(_plain(form), ensure_ascii=True))


@cache
def described(form: type[Form]) -> str:
    """Return a form as it is shown to a model: the object with a description in place of each value."""
    return _shown(_plain(form), "")


def _plain(form: type[Form]) -> dict[str, Any]:
    full = form.model_json_schema()
    return _reduced(full, full.get("$defs", {}))


def _reduced(schema: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if reference := schema.get("$ref"):
        named = definitions[reference.rsplit("/", 1)[-1]]
        told = {"description": schema["description"]} if "description" in schema else {}
        return _reduced(named, definitions) | told
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    if "properties" in kept:
        fields = kept["properties"].items()
        kept["properties"] = {name: _reduced(field, definitions) for name, field in fields}
        # Docstrings are for whoever reads the code.
        kept.pop("description", None)
    if "enum" in kept:
        kept.pop("description", None)
    if "items" in kept:
        kept["items"] = _reduced(kept["items"], definitions)
    if "anyOf" in kept:
        kept["anyOf"] = [_reduced(choice, definitions) for choice in kept["anyOf"]]
    return kept


def _shown(schema: dict[str, Any], indent: str) -> str:
    within = indent + _INDENT
    if schema.get("type") == "object":
        fields = [f'{within}"{name}": {_shown(each, within)}' for name, each in schema["properties"].items()]
        return "{\n" + ",\n".join(fields) + f"\n{indent}}}"
    if schema.get("type") == "array":
        return f"[{_shown(schema['items'], indent)}, ...]{_told(schema)}"
    return f"<{_type(schema)}{_told(schema)}>"


def _told(schema: dict[str, Any]) -> str:
    return f": {schema['description']}" if "description" in schema else ""


def _type(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(map(_type, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(json.dumps(choice) for choice in schema["enum"])
    return {"boolean": "true or false", "string": "text", "null": "null"}.get(schema["type"], "number")
