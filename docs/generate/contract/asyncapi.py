"""The AsyncAPI 3 document of all topics, made of the Avro schemas, the settings and the headers in code."""

import json
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from typing import Any, Final

from docs.generate.contract.channels import Channel, Direction, channels
from docs.generate.contract.record_headers import header_schema
from schemas import Record
from schemas.catalogue import current_schema, released_schemas
from schemas.validation import adapter
from streams.kafka.topics import Topics, TopicSpec, topic_specifications
from streams.settings import Settings

ASYNCAPI: Final = "3.1.0"
AVRO: Final = "application/vnd.apache.avro;version=1.9.0"
JSON_SUFFIX: Final = "Json"
_BINDING: Final = {"bindingVersion": "0.5.0"}
#: What AsyncAPI's binding has a place for, and how it wants it written.
_NUMBERS: Final = ("retention.ms", "retention.bytes", "delete.retention.ms", "max.message.bytes")

_ABOUT: Final = """\
The topics of truthgate, as truthgate sees them: it receives what others write, and sends what others read.

Values are Avro: in the single-object encoding (`C3 01`, the schema's CRC-64-AVRO fingerprint, little endian,
and the data), or, where `encoding.schema_registry_url` is set, in the Confluent wire format (`00`, the id of
the schema, big endian, and the data). `x-fingerprints` are those of all releases of a record's schema.
Delivery is at least once.
"""


def asyncapi_document(settings: Settings) -> dict[str, Any]:
    """Describe the topics of a deployment with these settings."""
    specs = {spec.name: spec for spec in topic_specifications(settings)}
    # Those of rates are not needed where none are counted.
    found = [each for each in channels(Topics(settings.kafka.topic_prefix)) if each.address in specs]
    return {
        "asyncapi": ASYNCAPI,
        "id": "urn:truthgate",
        "info": {
            "title": "truthgate",
            "version": version("truthgate"),
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
            "tags": [{"name": each.value, "description": _TAGS[each]} for each in Direction],
        },
        "defaultContentType": "application/avro",
        "servers": {"kafka": _server(settings)},
        "channels": {each.name: _channel(each, specs[each.address]) for each in found},
        "operations": {
            name: operation
            for each in found
            if each.direction is not Direction.INTERNAL
            for name, operation in [_operation(each, settings)]
        },
        "components": {"messages": dict(_messages(found)), "schemas": _json_schemas(found)},
    }


def text_of(described: Mapping[str, Any]) -> str:
    """Return the text of the file for a document."""
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


_TAGS: Final = {
    Direction.IN: "Others write it.",
    Direction.OUT: "Others read it.",
    Direction.INTERNAL: "For truthgate alone: it may change with any release.",
}


def _server(settings: Settings) -> dict[str, Any]:
    secure = settings.kafka.security_protocol != "PLAINTEXT"
    return {
        "host": "{bootstrap_servers}",
        "protocol": "kafka-secure" if secure else "kafka",
        "description": "The cluster that `kafka.bootstrap_servers` names.",
        "variables": {"bootstrap_servers": {"default": settings.kafka.bootstrap_servers}},
    }


def _channel(channel: Channel, spec: TopicSpec) -> dict[str, Any]:
    return {
        "address": channel.address,
        "title": channel.title,
        "description": channel.about,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in _message_names(channel)},
        "tags": [{"name": channel.direction.value}],
        "bindings": {
            "kafka": {
                "topic": channel.address,
                "partitions": spec.partitions,
                **({"replicas": spec.replication} if spec.replication > 0 else {}),
                "topicConfiguration": {
                    "cleanup.policy": [spec.config["cleanup.policy"]],
                    **{name: int(spec.config[name]) for name in _NUMBERS if name in spec.config},
                },
                **_BINDING,
            }
        },
    }


def _operation(channel: Channel, settings: Settings) -> tuple[str, dict[str, Any]]:
    receives = channel.direction is Direction.IN
    action = "receive" if receives else "send"
    group = {"groupId": {"type": "string", "enum": [settings.kafka.consumer_group]}}
    return f"{action}{_capitalized(channel.name)}", {
        "action": action,
        "channel": {"$ref": f"#/channels/{channel.name}"},
        "summary": channel.title,
        "messages": [
            {"$ref": f"#/channels/{channel.name}/messages/{name}"} for name in _message_names(channel)
        ],
        # Of the inputs only answers are read in a group: every worker reads all documents.
        **({"bindings": {"kafka": {**group, **_BINDING}}} if channel.name == "answers" else {}),
    }


def _message_names(channel: Channel) -> tuple[str, ...]:
    name = channel.record_type.__name__ if channel.record_type else _capitalized(channel.name)
    return (name, f"{name}{JSON_SUFFIX}") if channel.json else (name,)


def _messages(found: Iterable[Channel]) -> Iterable[tuple[str, dict[str, Any]]]:
    for channel in found:
        name, *json_names = _message_names(channel)
        yield name, _message(channel, name)
        for each in json_names:
            yield each, _json_message(channel, name, each)


def _message(channel: Channel, name: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "name": f"truthgate.{name}" if channel.record_type else name,
        "title": name if channel.record_type else channel.title,
        "bindings": {"kafka": {"key": {"type": "string", "description": channel.key}, **_BINDING}},
    }
    if channel.headers:
        described["headers"] = header_schema(channel.headers)
    if channel.record_type is None:
        return {**described, "contentType": channel.content_type}
    schema = json.loads(current_schema(channel.record_type).text)
    return {
        **described,
        "summary": schema["doc"],
        "contentType": "application/avro",
        "payload": {"schemaFormat": AVRO, "schema": schema},
        "x-fingerprints": fingerprints(channel.record_type),
    }


def _json_message(channel: Channel, record: str, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "title": f"{record} as JSON",
        "summary": "Accepted where `encoding.json_input` is on: one object in UTF-8, times as in RFC 3339.",
        "contentType": "application/json",
        "payload": {"$ref": f"#/components/schemas/{record}"},
        "bindings": {"kafka": {"key": {"type": "string", "description": channel.key}, **_BINDING}},
    }


def _json_schemas(found: Iterable[Channel]) -> dict[str, Any]:
    schemas: dict[str, Any] = {}
    for channel in found:
        if channel.json and channel.record_type:
            whole = adapter(channel.record_type).json_schema(ref_template="#/components/schemas/{model}")
            schemas |= whole.pop("$defs", {})
            schemas[channel.record_type.__name__] = whole
    return schemas


def _capitalized(name: str) -> str:
    return f"{name[0].upper()}{name[1:]}"


def fingerprints(record_type: type[Record]) -> dict[str, str]:
    """Return the fingerprints of a record's schema by release: 16 hexadecimal digits as on the wire."""
    return {release: schema.fingerprint.hex() for release, schema in released_schemas(record_type).items()}
