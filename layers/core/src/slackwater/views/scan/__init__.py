"""A scan as a document, in JSON, CSV and Markdown."""
