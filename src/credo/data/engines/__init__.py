"""Rows that lie on many machines: Dask, Spark, and processes of this one."""
