"""How the pictures of the gallery are saved."""

from typing import Any


def without_margins(settings: dict[str, Any], file: str) -> None:
    """Called in front of each program: its pictures are cut to what they show."""
    import matplotlib

    matplotlib.rcParams["savefig.bbox"] = "tight"
