"""``report.html`` of a run: one file for people, without a network, a script or a second file."""
