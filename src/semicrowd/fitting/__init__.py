"""Who turns the crank: drivers, Lightning modules and their callbacks."""
