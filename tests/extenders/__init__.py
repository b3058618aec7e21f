"""Tests of framework.extenders, and of cycles that ask extenders."""
