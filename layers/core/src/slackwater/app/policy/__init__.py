"""The policy file: its model, its errors and its warnings."""
