"""``python -m parpy`` prints the configuration."""

from .studies.configuration import show_config

show_config()
