"""The part of JSON Schema that the project's schemas use."""

TYPES = {
    "string": str,
    "array": list,
    "object": dict,
    "boolean": bool,
    "null": type(None),
}


def is_of(value, kind):
    if kind in ("number", "integer"):
        whole = isinstance(value, int) and not isinstance(value, bool)
        return whole or (kind == "number" and isinstance(value, float))
    return isinstance(value, TYPES[kind])


def check(value, schema, at="$"):
    """Fail where a value does not keep to a schema, and say where."""
    if "const" in schema:
        assert value == schema["const"], f"{at}: {value!r}"
        return
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    assert any(is_of(value, k) for k in kinds), f"{at}: {value!r} is not {kinds}"
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            check(item, schema["items"], f"{at}[{i}]")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        for key in schema.get("required", ()):
            assert key in value, f"{at} has no {key!r}"
        for key, item in value.items():
            if key in known:
                check(item, known[key], f"{at}.{key}")
            else:
                more = schema.get("additionalProperties", True)
                assert more is not False, f"{at}.{key} is not in the schema"
                if isinstance(more, dict):
                    check(item, more, f"{at}.{key}")
