"""Reads prices and what instance types allow."""
