"""Clean-up of EFS file systems."""
