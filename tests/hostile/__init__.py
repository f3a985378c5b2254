"""Tests that mean harm: faults, kills and damage that cross the rooms of the package."""
