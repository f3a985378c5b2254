"""Runs: one `Run`, opened once; which run is meant; the writer of its files."""
