"""Questions asked of runs: compare, gate, power, label, calibrate, explain."""
