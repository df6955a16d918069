"""Records of runs on disk, and the reports that are made from them: tables, HTML, Markdown and JUnit XML."""
