"""One file a question. The file's name is the detector's id, with hyphens; each file defines `DETECTOR`."""
