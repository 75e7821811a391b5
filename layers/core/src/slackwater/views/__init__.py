"""Documents and texts for people and programs: data in, text out."""
