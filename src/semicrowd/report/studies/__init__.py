"""What the report shows beside the papers: measurements of the project's own."""
