"""Results in words. Every place that shows a result has its sentences from here.

What a result means (better or worse, passed or not, too few rows) is decided where it is computed. The sentences know
figures, and neither runs nor the results' own classes, so that every result can have its sentence with it.
"""
