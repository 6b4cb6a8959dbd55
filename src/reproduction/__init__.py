"""The reproduction of the papers, a client of the library: command line, tracking, pipeline stages, report."""
