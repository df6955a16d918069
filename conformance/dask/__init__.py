"""Runs and sweeps on a Dask cluster."""
