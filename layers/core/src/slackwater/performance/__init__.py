"""What AWS allows: formulas with their units and sources, used by detectors and estimates."""


class UnpublishedError(ValueError):
    """AWS does not publish a figure, or Slackwater does not have it. A verdict that needs the figure is `Unknown`."""
