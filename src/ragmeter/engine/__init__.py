"""Fills columns: which ones a list of metrics needs, and the scores from them."""
