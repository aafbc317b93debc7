"""``values.schema.json``: the settings by truthgate's own model, everything else by the defaults."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

from docs.generate.chart.chart_values import Value
from docs.generate.chart.secret_paths import pattern, secret_fields
from streams.settings import Settings

#: A setting that the chart itself sets, to another value for each pod.
_OF_THE_CHART: Final = {"KafkaSettings": {"group_instance_id"}}
#: Settings whose default is another setting's value, which a schema cannot express.
_FILLED_IN: Final = {"RateWindowSettings": {"hop_seconds"}}
_TYPES: Final = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))


def schema(values: Iterable[Value]) -> str:
    """Return the JSON schema of the chart's values; Helm rejects values that do not match it."""
    whole = _object(values)
    secrets = whole["properties"]["secrets"]["properties"]
    for given in (secrets["values"], secrets["existing"]):
        given["propertyNames"] = {"pattern": pattern()}
    settings = settings_schema()
    whole["properties"]["settings"] = {**whole["properties"]["settings"], **settings["root"]}
    content = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **whole,
        "definitions": settings["definitions"],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def settings_schema() -> Mapping[str, Any]:
    """Return the schema of the settings as the chart accepts them: ``root``, and ``definitions`` for it.

    What is secret is not in it, since it would stand in a ConfigMap; nor what depends on the machine that
    this runs on.
    """
    model = Settings.model_json_schema(ref_template="#/definitions/{model}")
    definitions = {name: _definition(name, each) for name, each in model.pop("$defs").items()}
    sections = {name: {"$ref": each["$ref"]} for name, each in model["properties"].items()}
    root = {"type": "object", "additionalProperties": False, "properties": sections}
    return {"root": root, "definitions": definitions}


def _definition(name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = _cleaned(found)
    left_out = {key for key, each in found.get("properties", {}).items() if _is_secret(each)}
    left_out |= _OF_THE_CHART.get(name, set())
    if "properties" in made:
        made["properties"] = {key: each for key, each in made["properties"].items() if key not in left_out}
    # An address may be in a Secret, and is then absent here.
    optional = left_out | _FILLED_IN.get(name, set()) | secret_fields().get(name, set())
    if required := [key for key in found.get("required", ()) if key not in optional]:
        made["required"] = required
    else:
        made.pop("required", None)
    return made


def _is_secret(found: Mapping[str, Any]) -> bool:
    """Return whether truthgate never shows a setting, or the values of a table."""
    options = [found, *found.get("anyOf", ()), found.get("additionalProperties", {})]
    return any(isinstance(each, Mapping) and each.get("writeOnly") for each in options)


def _cleaned(found: Any) -> Any:
    """Drop titles and all but the first paragraph of docstrings; allow no keys but those of patterns."""
    if isinstance(found, list):
        return [_cleaned(each) for each in found]
    if not isinstance(found, dict):
        return found
    made = {key: _cleaned(each) for key, each in found.items() if key != "title" or isinstance(each, dict)}
    if isinstance(description := made.get("description"), str):
        made["description"] = description.partition("\n\n")[0]
    if "patternProperties" in made:
        made.setdefault("additionalProperties", False)
    return made


def _object(values: Iterable[Value]) -> dict[str, Any]:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {value.path[-1]: _property(value) for value in values},
    }


def _property(value: Value) -> dict[str, Any]:
    described = {"description": value.description} if value.description else {}
    if value.children:
        return {**described, **_object(value.children), **value.schema}
    return {**described, **_type(value.default), **value.schema}


def _type(default: Any) -> dict[str, Any]:
    if isinstance(default, dict):
        return {"type": "object"}
    if isinstance(default, list):
        return {"type": "array"}
    for kind, name in _TYPES:
        if isinstance(default, kind):
            return {"type": name, "minimum": 0} if name in {"integer", "number"} else {"type": name}
    return {}
