"""Captures the source text of a function at the moment it is decorated.

Later edits of the file, or of a notebook cell, have no effect. All functions whose lines are in
`linecache` work: those of files, zip imports, notebooks, and `exec` of registered text. Positions are
absolute: a nested function or a method is parsed with its indentation, so that lines and
columns are those of the file. The captured text includes comments.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from contextlib import suppress
from itertools import pairwise
from tokenize import TokenError
from types import CodeType, FunctionType, MethodType
from typing import Any, NamedTuple, NoReturn

from .. import _native
from ..calls.caller import refuse_call
from ..calls.errors import CompileError, refuse
from ..pragmas.comments import has_pragmas
from ..pragmas.source_pragmas import NO_PRAGMAS, Pragmas, read_pragmas
from .aliases import without_aliases
from .annotations import annotations_of
from .bases import with_bases
from .deep_stack import with_deep_stack
from .executed import executed_lines
from .fields import with_fields, with_methods
from .imports import note_imports, without_imports
from .literals import with_constants, with_keys
from .patterns import node_parameters
from .rewriting.cases import note_subjects, with_cases
from .rewriting.given_lists import with_arrays
from .stored_views import has_views, note_views, with_named_views
from .text import as_text
from .turns import note_turns, with_turns
from .vectors import with_slices
from .walks import walk

# An indented function is parsed after this line, which makes its indentation legal.
_BLOCK = "if 1:\n"


class DeclaredArray(NamedTuple):
    """The type of an array parameter: the name of its element type in IR text, and the number of dimensions."""

    element: str
    ndim: int


class CallDefaults(NamedTuple):
    """The options of calls without options; bindings/module/options_object.h has the same fields."""

    fast_math: bool = False
    check_bounds: bool = False


class FunctionSource:
    """A Python function with its text. `declared` has the types of numbers, by parameter, to which compiled calls
    convert arguments, and under "return" the type of the result ("void" for none). `arrays` has the types of array
    parameters. `shown` is the text of the signature. `alternatives` are versions of the function with one signature
    each; a call uses the version that fits best or, if `in_order`, the first one with safe conversions of the
    arguments. `defaults` are the options of the decorator. `only_pragmas` tells that Python runs the statements without
    pragmas, `part` that the function is a region of another function, and `undivided` that Python runs no
    statements of it. `refusals` are the errors with which compiled code has refused statements that Python runs, by the
    forms of the arguments of calls."""

    part = False
    undivided: bool = False

    def __init__(
        self, function: FunctionType, name: str, text: str, first_line: int, tree: ast.AST | None = None
    ) -> None:
        self.function = function
        self.name = as_text(name)
        self.text = text
        self.first_line = first_line
        self.declared: dict[str, str] = {}
        self.arrays: dict[str, DeclaredArray] = {}
        self.shown = ""
        self.alternatives: tuple[FunctionSource, ...] = ()
        self.in_order = False
        self.defaults = CallDefaults()
        self.only_pragmas = False
        self.refusals: dict[tuple[Any, ...], CompileError] = {}
        self._plain: ast.FunctionDef | ast.AsyncFunctionDef | None = None
        self._pragmas: Pragmas | None = None
        self._given = tree is not None
        self._tree = _parse(text) if tree is None else tree
        if self._tree is not None and "__" in text:
            _mangle(self._tree, _class_around(function.__code__))
        note_imports(function, self._tree)
        note_turns(function, self._tree)
        note_subjects(function, text, self._tree)
        if has_views(text):
            note_views(function, self._tree)

    def __getstate__(self) -> dict[str, Any]:
        """The state without a tree that can be parsed from the text, with evaluated annotations, whose names may be
        missing where the pickle is loaded, and with the texts of the plain functions that it calls."""
        from .names import keep_texts

        keep_texts(self.function)
        annotations = self.function.__annotations__
        found = annotations_of(self.function) if any(isinstance(each, str) for each in annotations.values()) else {}
        tree = self._tree if self._given else None
        return self.__dict__ | {
            "_plain": None, "_pragmas": None, "_tree": tree, "annotations": found, "refusals": {},
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.function = state["function"]
        self.function.__annotations__.update(state.pop("annotations"))
        self.__init__(self.function, state["name"], state["text"], state["first_line"], state.pop("_tree"))  # type: ignore[misc]
        self.__dict__.update(state)

    @property
    def pragmas(self) -> Pragmas:
        """The pragmas in the text. Raises CompileError if one of them is wrong."""
        if self._pragmas is None:
            given = NO_PRAGMAS
            if has_pragmas(self.text):
                given = read_pragmas(self.text, self.first_line, self.line_shift, self.written(), self.native())
            self._pragmas = given
        return self._pragmas

    def __copy__(self) -> FunctionSource:
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def tree(self) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """The rewritten syntax tree; its line numbers plus `line_shift` are the lines of the file."""
        if self._plain is None:
            node = without_imports(with_cases(self.written()), self.function)
            node = with_bases(with_slices(node, self.function), self.function)
            node = with_named_views(node) if has_views(self.text) else node
            node = with_turns(without_aliases(with_keys(with_constants(node, self.function))))
            node = with_arrays(node, self.function)
            self._plain = with_fields(with_methods(node, self.function))
        return self._plain

    def written(self) -> ast.FunctionDef | ast.AsyncFunctionDef:
        """The syntax tree of the text without rewriting."""
        node: ast.AST | None = self._tree
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or not _matches(node, self.function.__code__):
            _refuse(
                "P004",
                f"the text at this place is not that of the function '{self.function.__name__}'",
                "the file changed after it was imported: reload it, or restart Python",
                self,
            )
        return node

    @property
    def unparsed(self) -> bool:
        return self._tree is None

    @property
    def line_shift(self) -> int:
        return self.first_line - (2 if self.text[:1] in (" ", "\t") else 1)

    def place(self, node: ast.stmt | ast.expr) -> tuple[int, int, int, int, int]:
        """The place of the node's begin, for a message about this source alone."""
        line, column = node.lineno + self.line_shift, node.col_offset + 1
        return (0, line, column, line, column + 1)

    def native(self) -> _native.Source:
        return _native.Source(self.name, self.text, self.first_line)


def _parse(text: str) -> ast.AST | None:
    """The first statement of `text`; None if there is none or `text` is no Python."""
    try:
        if text[:1] in (" ", "\t"):
            block = with_deep_stack(lambda: ast.parse(_BLOCK + text)).body[0]
            return block.body[0] if isinstance(block, ast.If) else None
        body = with_deep_stack(lambda: ast.parse(text)).body
        return body[0] if body else None
    except SyntaxError:
        return None


def _class_around(code: CodeType) -> str:
    """The name of the innermost class around the function, possibly with functions between them; '' if none."""
    parts = pairwise(code.co_qualname.split("."))  # '<locals>' follows the name of a function
    return next((name for name, inner in reversed([*parts]) if "<locals>" not in (name, inner)), "")


def _mangle(tree: ast.AST, class_name: str) -> None:
    """Mangles private names inside of a class (`__n`) as Python does (`_Class__n`)."""
    prefix = "_" + class_name.lstrip("_")
    if prefix == "_":
        return

    def spelled(name: str) -> str:
        return prefix + name if name.startswith("__") and not name.endswith("__") else name

    for node in walk(tree):
        if isinstance(node, ast.Name):
            node.id = spelled(node.id)
        elif isinstance(node, ast.arg):
            node.arg = spelled(node.arg)
        elif isinstance(node, ast.Attribute):
            node.attr = spelled(node.attr)


def capture(function: object) -> FunctionSource:
    """The source of `function`. Raises CompileError if there is no source that can be compiled."""
    if not isinstance(function, FunctionType):
        _refuse_object(function)
    code = function.__code__
    name, found = code.co_filename, _texts_of(function)
    first = code.co_firstlineno
    blocks = {_block(lines, first, code): lines for lines in found if first <= len(lines)}
    text, lines = next(iter(blocks.items())) if len(blocks) == 1 else ("", [])
    source = FunctionSource(function, name, text, first)
    if source.unparsed and text:
        # Text inside of brackets or strings may be less indented than the function; the tokenizer finds the end.
        with suppress(TokenError):
            source = FunctionSource(function, name, "".join(inspect.getblock(lines[first - 1 :])), first)
    if code.co_name == "<lambda>":
        _refuse("P003", "the text of this lambda cannot be found", "define the function with 'def'", source)
    if len(blocks) > 1:
        _refuse(
            "P002",
            f"several source texts that differ only in their comments may be that of '{function.__name__}'",
            "keep only the text that is given to exec in a variable, or define the function in a file",
            source,
        )
    if not text:
        _refuse(
            "P002",
            f"the source text of '{function.__name__}' is not available",
            "define the function in a file or a notebook cell, or keep the text given to exec in a variable",
            source,
        )
    return source


def _texts_of(function: FunctionType) -> list[list[str]]:
    """The lines of the file of a function, or of each text that exec may be running."""
    name = function.__code__.co_filename
    linecache.checkcache(name)
    given = linecache.getlines(name, function.__globals__)
    return [given] if given else executed_lines(function.__code__)


def capture_expression(function: FunctionType, name: str) -> FunctionSource:
    """The source of a function; a lambda becomes a function of this name. Raises CompileError as capture does."""
    code = function.__code__
    if code.co_name != "<lambda>":
        return capture(function)
    texts = _texts_of(function)
    text = "".join(texts[0]) if len(texts) == 1 else ""
    try:
        tree = with_deep_stack(lambda: ast.parse(text))
    except SyntaxError:
        return capture(function)  # raises the error
    places = {(line, column) for line, _, column, _ in code.co_positions() if line is not None and column is not None}
    found = [node for node in walk(tree) if isinstance(node, ast.Lambda) and _holds(node, code, places)]
    if len(found) != 1:
        return capture(function)
    node = found[0]
    body = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.copy_location(ast.FunctionDef(name, node.args, [body], []), node)
    named = FunctionType(
        code.replace(co_name=name), function.__globals__, name, function.__defaults__, function.__closure__
    )
    return FunctionSource(named, code.co_filename, text, 1, made)


def _holds(node: ast.Lambda, code: CodeType, places: set[tuple[int, int]]) -> bool:
    """Whether the code may have been compiled from this lambda: the parameters and the places of instructions agree."""
    begin = (node.body.lineno, node.body.col_offset)
    end = (node.body.end_lineno or 0, node.body.end_col_offset or 0)
    inside = [place for place in places if place != (code.co_firstlineno, 0)]
    same = tuple(node_parameters(node)) == code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return same and bool(inside) and all(begin <= place <= end for place in inside)


def _block(lines: list[str], first: int, code: CodeType) -> str:
    """The text of the function that begins at line `first`, including comments at its end."""
    last = max((end for _, end, _, _ in code.co_positions() if end is not None), default=first)
    base = _indentation(lines[first - 1])
    end = first
    for number in range(first + 1, len(lines) + 1):
        line = lines[number - 1]
        if line.isspace():
            continue
        if number > last and _indentation(line) <= base:
            break
        end = number
    return "".join(lines[first - 1 : end])


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def _matches(node: ast.FunctionDef | ast.AsyncFunctionDef, code: CodeType) -> bool:
    """Whether `code` may have been compiled from `node`: the name and the parameters agree."""
    count = code.co_argcount + code.co_kwonlyargcount
    return node.name == code.co_name and tuple(node_parameters(node)) == code.co_varnames[:count]


def _refuse_object(found: object) -> NoReturn:
    if isinstance(found, type):
        what, fix = f"the class '{found.__name__}'", "decorate its methods or a function instead"
    elif isinstance(found, staticmethod | classmethod):
        what = f"a {type(found).__name__}"
        fix = f"write @{type(found).__name__} above @parpy.jit"
    elif isinstance(found, MethodType):
        what = f"the bound method '{found.__name__}'"
        fix = "decorate the function where the class defines it"
    elif callable(found) and hasattr(found, "__name__"):
        what = f"'{found.__name__}', a {type(found).__name__}"
        fix = "write a Python function that does the same"
    else:
        what, fix = f"an object of type '{type(found).__name__}'", "decorate a 'def' statement"
    refuse_call("P001", f"only Python functions can be compiled, not {what}", fix)


def _refuse(code: str, message: str, help_text: str, source: FunctionSource) -> NoReturn:
    line = source.text.split("\n", 1)[0]
    begin = len(line) - len(line.lstrip()) + 1
    span = (0, source.first_line, begin, source.first_line, max(len(line.rstrip()) + 1, 2))
    refuse(code, message, help_text, span, [source.native()])
