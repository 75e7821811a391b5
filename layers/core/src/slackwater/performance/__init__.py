"""What AWS allows: formulas with their units and sources, used by detectors and estimates."""
