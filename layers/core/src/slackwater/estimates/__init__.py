"""Estimates, one file each: answers about resources that do not exist yet, by the formulas that detectors use."""
