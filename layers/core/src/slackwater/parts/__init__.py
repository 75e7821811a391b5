"""What several detectors are built of: a measure they all read, a way out they all advise."""
