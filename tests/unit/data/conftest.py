"""What the tests of tables share: a file with some content."""

import json

import pytest


@pytest.fixture
def put(tmp_path):
    """Writes texts, bytes, or rows as JSON lines, under a name, and gives the path."""

    def write(content, name="t.csv"):
        path = tmp_path / name
        if not isinstance(content, (str, bytes)):
            content = "".join(json.dumps(row) + "\n" for row in content)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write
