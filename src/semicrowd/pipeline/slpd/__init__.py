"""Tables 2 and 3 and Fig. 2 of the SLPD paper: all trials of a data set in one process, many fits at a time."""
