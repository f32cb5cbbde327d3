"""`python -m tests.fuzz bif [atheris options]`: run one reader's target under atheris."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial

try:
    import atheris
except ImportError:
    atheris = None


def main() -> None:
    """Start atheris on the target that the first argument names."""
    format = sys.argv[1] if len(sys.argv) > 1 else ""
    with atheris.instrument_imports(["credo.formats", "credo.data"]) if atheris else nullcontext():
        from tests.fuzz.targets import READERS, seeds, target

        if format not in READERS:
            sys.exit(f"usage: python -m tests.fuzz {'|'.join(READERS)} [atheris options]")
        for data in seeds(format):  # readers are imported when they are needed
            target(format, data)
    if atheris is None:
        sys.exit("atheris is not installed: pip install atheris")
    del sys.argv[1]
    atheris.Setup(sys.argv, partial(target, format))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
