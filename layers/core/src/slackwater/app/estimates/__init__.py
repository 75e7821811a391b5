"""Estimates."""
