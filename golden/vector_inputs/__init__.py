"""Inputs that golden vectors are made of: by theme, by search, by witness."""
