"""How general a method is: data sets × regimes of answers × methods × seeds, `make generality`."""
