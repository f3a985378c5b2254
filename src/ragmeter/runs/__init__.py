"""Runs: the folder of each, its writer, and the columns that are read when they are needed."""
