"""Calls within limits: how many at once, how often, how long and for how much."""
