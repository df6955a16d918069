"""What a run leaves: records on disk, tables, HTML."""
