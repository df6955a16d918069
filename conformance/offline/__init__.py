"""Exports cases for a device elsewhere and judges the outputs brought back."""
