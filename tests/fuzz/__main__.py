"""`python -m tests.fuzz bif [atheris options]`: run one reader's target under atheris."""

from __future__ import annotations

import sys
from functools import partial

from tests.fuzz.targets import READERS, target


def main() -> None:
    """Start atheris on the target that the first argument names."""
    if len(sys.argv) < 2 or sys.argv[1] not in READERS:
        sys.exit(f"usage: python -m tests.fuzz {'|'.join(READERS)} [atheris options]")
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed: pip install atheris")
    format = sys.argv.pop(1)
    atheris.instrument_all()
    atheris.Setup(sys.argv, partial(target, format))
    atheris.Fuzz()


if __name__ == "__main__":
    main()
