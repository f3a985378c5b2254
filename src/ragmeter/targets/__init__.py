"""Systems to ask: a Python function, an HTTP endpoint, a model. One port, and one way to ask them all."""
