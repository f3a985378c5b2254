"""Servers: their addresses, connections, what they reply and what is downloaded from them."""
