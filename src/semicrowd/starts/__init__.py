"""First partitions: functions of features, answers, networks and random streams."""
