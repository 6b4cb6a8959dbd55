"""Networks whose every parameter carries a leading restart axis."""
