"""What nobody has set: rules from what is in front of the program, with their reasons."""
