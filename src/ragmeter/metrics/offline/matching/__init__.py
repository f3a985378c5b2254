"""Two texts side by side: which gold words the answer has, where, beside what else, and what stands in their place."""
