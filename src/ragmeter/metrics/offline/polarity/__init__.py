"""Whether an answer says the same of yes and no as the gold answer."""
