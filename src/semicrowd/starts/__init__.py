"""Initial clusters: functions of features, answers, networks and random streams."""
