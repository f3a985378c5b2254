"""How a judge is asked: words and forms, one column or two wordings, probes and cascades."""
