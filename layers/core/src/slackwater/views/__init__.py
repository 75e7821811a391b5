"""A scan as text: data in, text out."""
