"""Wording, Markdown and sparklines that all views for people share."""
