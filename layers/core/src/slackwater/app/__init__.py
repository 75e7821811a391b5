"""Use cases, settings, wiring."""
