"""People and the judge: which rows to label, the file of labels, and calibration of the judge with them."""
