"""Clean-ups, step by step, and their undo."""
