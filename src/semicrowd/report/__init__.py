"""The papers' tables and figures beside what this project computes."""
