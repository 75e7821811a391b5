"""Reads prices and the limits of instance types."""
