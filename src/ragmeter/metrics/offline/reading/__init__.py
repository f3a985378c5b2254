"""Texts of one side: what is left out of them, and the words, values and languages that are read."""
