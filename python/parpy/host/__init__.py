"""Runs functions of which Python runs some statements and compiled code the others."""
