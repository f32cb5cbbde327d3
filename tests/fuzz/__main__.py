"""`python -m tests.fuzz bif [atheris options]`: run one reader's target under atheris.

It starts from the valid files of the tests and mutations of them, unless a folder is given.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path

try:
    import atheris
except ImportError:
    atheris = None

MUTATED = 200
"""Mutations of the valid files that it starts from."""


def forget_editable() -> str:
    """Let credo be imported from its files, and give the folder of its core: what the loader of an
    editable install imports is not instrumented, and without coverage no input is better than
    another.
    """
    core = importlib.util.find_spec("credo._core")
    assert core is not None and core.origin is not None
    for name in [n for n in sys.modules if n.partition(".")[0] == "credo"]:
        del sys.modules[name]
    sys.meta_path[:] = [f for f in sys.meta_path if not type(f).__name__.startswith("ScikitBuild")]
    sys.path.insert(0, "src")
    return str(Path(core.origin).parent)


def main() -> None:
    """Start atheris on the target that the first argument names."""
    format = sys.argv[1] if len(sys.argv) > 1 else ""
    folder = forget_editable()
    with atheris.instrument_imports(["credo.formats", "credo.data"]) if atheris else nullcontext():
        import credo

        credo.__path__.append(folder)
        from tests.fuzz.targets import READERS, cases, seeds, target

        if format not in READERS:
            sys.exit(f"usage: python -m tests.fuzz {'|'.join(READERS)} [atheris options]")
        for data in seeds(format):  # readers are imported when they are needed
            target(format, data)
    if atheris is None:
        sys.exit("atheris is not installed: pip install atheris")
    del sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:  # an empty start never gets past a first line
        if all(a.startswith("-") for a in sys.argv[1:]):
            for i, data in enumerate([*seeds(format), *cases(format, MUTATED)]):
                Path(folder, f"{i:04}").write_bytes(data)
            sys.argv.append(folder)
        atheris.Setup(sys.argv, partial(target, format))
        atheris.Fuzz()


if __name__ == "__main__":
    main()
