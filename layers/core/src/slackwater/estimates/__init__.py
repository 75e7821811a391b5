"""What-ifs, one file each: answers about resources that do not exist yet, by the same formulas as the detectors."""
