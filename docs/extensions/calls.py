"""The service's calls as Markdown, from the OpenAPI description that the service itself serves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from pathcast.service.app import create_app
from pathcast.service.core import Service
from pathcast.service.settings import Settings

Description: TypeAlias = dict[str, Any]


def description() -> Description:
    """What `/openapi.json` of a service says."""
    with TemporaryDirectory() as folder:
        return create_app(Service(Settings(data=Path(folder)))).openapi()


def calls_page() -> str:
    """A section for each family of calls, and one for the bodies they take."""
    return "\n".join(_lines(description()))


def _lines(api: Description) -> Iterator[str]:
    family = None
    for path, methods in api["paths"].items():
        for method, call in methods.items():
            if call["tags"][0] != family:
                family = call["tags"][0]
                yield f"## {family.capitalize()}\n"
            yield from _call(method, path, call)
    yield "## Bodies\n"
    for name, schema in api["components"]["schemas"].items():
        yield from _body(name, schema)


def _call(method: str, path: str, call: Description) -> Iterator[str]:
    yield f"### {call['summary']}\n"
    yield f"```text\n{method.upper()} {path}\n```\n"
    yield f"{call.get('description', '')}\n"
    for parameter in call.get("parameters", ()):
        need = ", required" if parameter.get("required") else ""
        says = parameter.get("description", "")
        yield (
            f"`{parameter['name']}`\n: In the {parameter['in']}{need}: {_kind(parameter['schema'])}. {says}\n"
        )
    for media, content in call.get("requestBody", {}).get("content", {}).items():
        yield f"Body: `{media}`, {_kind(content.get('schema', {}))}.\n"
    if not call.get("security"):
        yield "Needs no key.\n"
    for status, answer in call["responses"].items():
        problem = " A [Problem](#problem)." if "application/problem+json" in answer.get("content", {}) else ""
        if status != "default":
            yield f"`{status}`\n: {answer['description']}{problem}\n"
    yield from _example(next(iter(call["responses"].values())))


def _example(answer: Description) -> Iterator[str]:
    for media, content in answer.get("content", {}).items():
        example = content["example"]
        if media == "application/json":
            yield f"```json\n{json.dumps(example, indent=2, ensure_ascii=False)}\n```\n"
        else:
            text = example if isinstance(example, str) else json.dumps(example)
            yield f"```text\n{text.strip()}\n```\n"


def _body(name: str, schema: Description) -> Iterator[str]:
    yield f"### {name}\n"
    yield f"{schema.get('description', '')}\n"
    required = schema.get("required", ())
    for field, each in schema.get("properties", {}).items():
        need = ", required" if field in required else ""
        default = f", `{json.dumps(each['default'])}` unless given" if "default" in each else ""
        yield f"`{field}`\n: {_kind(each)}{need}{default}. {each.get('description', '')}\n"
    for example in schema.get("examples", ()):
        yield f"```json\n{json.dumps(example, indent=2)}\n```\n"


def _kind(schema: Description) -> str:
    """The type in words; a body is a link to its section."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        kinds = [_kind(each) for each in schema["anyOf"] if each.get("type") != "null"]
        return " or ".join(kinds)
    if "enum" in schema:
        return "one of " + ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"a list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "anything"))
