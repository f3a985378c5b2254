"""The documents of a run's folder, as types: `manifest.json`, `summary.json`, and kept comparisons.

What a field means is said here and nowhere else. Who fills it, and who shows it, imports its type.
"""
