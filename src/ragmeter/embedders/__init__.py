"""Texts to vectors: one port, several backends behind it, and a cache in front of them all."""
