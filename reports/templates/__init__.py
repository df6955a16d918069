"""Jinja templates and styles of the HTML report."""
