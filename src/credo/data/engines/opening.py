"""Which tables lie with an engine: Dask and Spark frames, and files that are read on one."""

from __future__ import annotations

from concurrent.futures import Executor
from typing import Any

from credo.core.errors import InputError, shown
from credo.data.engines.parts import Engine, Parts
from credo.data.sources.file_parts import file_parts
from credo.data.sources.files import feed_of_path, is_path
from credo.data.sources.text import TextOptions


def parts_of(x: Any, on: Any, options: TextOptions) -> Parts | None:
    """The parts of a table that lies with an engine; None of any other."""
    package = type(x).__module__.partition(".")[0]
    if package == "narwhals" and hasattr(x, "to_native"):
        return parts_of(x.to_native(), on, options)
    if package == "dask" and hasattr(x, "npartitions") and hasattr(x, "_meta"):
        from credo.data.engines.dask_engine import parts_of_dask

        return parts_of_dask(x, None if on is None else _dask_client(on))
    if package == "pyspark" and hasattr(x, "mapInArrow"):
        from credo.data.engines.spark_engine import parts_of_spark

        if on is not None:
            raise InputError("A Spark frame knows its session: on= is for files.")
        return parts_of_spark(x)
    if on is None:
        return None
    if not is_path(x):
        raise InputError(
            f"on= says where files are read, and {shown(x)} is none.",
            hint="Write it to Parquet files, or leave on= out.",
        )
    engine = engine_of(on)
    feed = feed_of_path(x, options)
    return Parts(feed, engine, file_parts(x, options))


def _dask_client(on: Any) -> Any:
    if hasattr(on, "scheduler_info"):
        return on
    raise InputError(f"on= must be a Dask client here, got {shown(on)}.")


def engine_of(on: Any) -> Engine:
    """The engine behind a client, a session or an executor."""
    if isinstance(on, Executor):
        from credo.data.engines.pool import Pool

        return Pool(on)
    package = type(on).__module__.partition(".")[0]
    if package in ("distributed", "dask") and hasattr(on, "scheduler_info"):
        from credo.data.engines.dask_engine import Dask

        return Dask(on)
    if package == "pyspark" and hasattr(on, "createDataFrame"):
        from credo.data.engines.spark_engine import Spark

        return Spark(on)
    raise InputError(
        "An engine must be a Dask client, a Spark session or an executor of concurrent.futures, "
        f"got {shown(on)}."
    )
