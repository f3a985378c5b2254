"""Columns that a judge fills: what is missing, who fills it, and the asking."""
