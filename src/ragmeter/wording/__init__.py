"""Results in words, for every place that shows one: numbers, signs, causes and sentences. One table for each.

What a result means (better or worse, passed or not, too few rows) is decided where it is computed. These modules get
figures and the documents of a run, so that every result can have its sentence as an attribute.
"""
