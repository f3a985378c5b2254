"""Results in sentences, for every place that shows a result.

What a result means (better or worse, passed or not, too few rows) is decided where it is computed. These modules import
neither runs nor the classes of results, so that every result can have its sentence as an attribute.
"""
