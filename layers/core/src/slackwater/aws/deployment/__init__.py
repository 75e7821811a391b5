"""The deployed stack: state machines, functions, events and secrets."""
