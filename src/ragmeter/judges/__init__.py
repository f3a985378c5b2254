"""Models that judge: the client that reaches them, and each prompt beside the parser of its replies."""
