"""People beside the judge: which rows to label, the file of labels, and what it says of the judge."""
