"""The command line: arguments, help, explanations, what a person reads at the end."""
