"""Running cases on backends, and recording, judging and explaining the outcomes."""
