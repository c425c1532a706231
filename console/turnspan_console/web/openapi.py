"""The OpenAPI description of the endpoints, made of their types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import msgspec

from turnspan import __version__
from turnspan_console.web.endpoints import WebEndpoint

_REFERENCE = "#/components/schemas/{name}"
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string"}, "details": {"type": "object"}},
}
_ERRORS = {
    "400": "What was asked is not understood; `error` says why.",
    "401": "The token is missing or wrong.",
    "404": "What was asked for is not in the store.",
    "422": "The store refused the question.",
    "503": "The store cannot be used now; `error` says what to do.",
}


def schemas(endpoints: Sequence[WebEndpoint[Any, Any]]) -> dict[str, dict[str, Any]]:
    """The JSON schemas of all types that are asked and answered, by name."""
    kinds = [kind for one in endpoints for kind in one.types]
    _, components = msgspec.json.schema_components(kinds, ref_template=_REFERENCE)
    return {name: _as_written(schema) for name, schema in components.items()}


def _as_written(schema: Any) -> Any:
    """With numbers for decimals, as ``endpoints.written`` has them."""
    if isinstance(schema, dict):
        known = cast("dict[str, Any]", schema)
        if known.get("format") == "decimal":
            return {"type": "number"}
        return {name: _as_written(value) for name, value in known.items()}
    if isinstance(schema, (list, tuple)):
        return [_as_written(one) for one in cast("list[Any]", schema)]
    return schema


def description(endpoints: Sequence[WebEndpoint[Any, Any]]) -> dict[str, Any]:
    """The description, as a document of OpenAPI 3.1."""
    components = schemas(endpoints)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Turnspan's page",
            "version": __version__,
            "description": "What the page of `turnspan console` asks of this machine's store.",
        },
        "paths": {one.path: {one.method.lower(): _operation(one, components)} for one in endpoints},
        "components": {
            "schemas": {**components, "Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _operation(
    endpoint: WebEndpoint[Any, Any], components: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    query = components[endpoint.query.__name__]
    asked: dict[str, Any]
    if endpoint.method == "GET":
        needed = query.get("required", ())
        asked = {
            "parameters": [
                {"name": name, "in": "query", "required": name in needed, "schema": schema}
                for name, schema in query["properties"].items()
            ]
        }
    else:
        asked = {"requestBody": {"required": True, "content": _json(endpoint.query.__name__)}}
    return {
        "operationId": endpoint.path.removeprefix("/api/").replace("/", "_").replace("-", "_"),
        "summary": endpoint.summary,
        **asked,
        "responses": {
            "200": {"description": "The answer.", "content": _json(endpoint.answer.__name__)},
            **{
                code: {"description": meaning, "content": _json("Error")}
                for code, meaning in _ERRORS.items()
            },
        },
    }


def _json(name: str) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": _REFERENCE.format(name=name)}}}
