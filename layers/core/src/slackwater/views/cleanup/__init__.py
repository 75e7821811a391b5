"""Clean-ups as the API and the command line return them."""
