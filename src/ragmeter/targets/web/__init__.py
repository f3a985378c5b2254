"""A system that is only a web page: a browser types questions into it, and reads the answers."""
