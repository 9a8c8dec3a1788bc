"""Makes functions of the library from generated texts, for example for a number of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import builtin
from ..syntax.names import keep_source
from ..syntax.source import FunctionSource


def function_of(text: str, name: str, file: str, **used: Any) -> Any:
    """The function with this name in the text, which may use np, builtin and the objects in `used`. Messages call the
    text `file`."""
    space: dict[str, Any] = {"np": np, "builtin": builtin, "__name__": __name__, **used}
    exec(compile(text, file, "exec"), space)
    function = space[name]
    keep_source(function, FunctionSource(function, file, text, 1))
    return function
