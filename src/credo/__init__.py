"""credo: from a table of data to a probabilistic model you can question, with its uncertainty.

The public names load when they are first used, so that `import credo` is quick; `__init__.pyi`
beside this file says where each lives.
"""

from credo.core.lazy import public_names

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = public_names(__name__, __file__)
