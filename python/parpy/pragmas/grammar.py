"""The grammar of pragmas. A comment becomes a LoopPragma, a StatementPragma or a Fault, which names the unexpected text
with its column, the allowed words, and the nearest word.

    pragma    = loop | statement
    loop      = ["parallel" ["for"] | "sequential" "for" | "simd" [width]] {clause}
    clause    = "simd" [width] | "block" width | "num_warps" width | "reduction" "(" op ":" names ")"
              | ("shared" | "to" | "from" | "global") "(" names ")"
    statement = ["atomic"] {dimension}
    dimension = [low] ":" high "=>" [property {"," property}]
    property  = "parallel" | "simd" [width] | "block" width | "single_block" | "le" width
              | ("reduce" | "reduction") "(" name [":" variable] ")"
    width     = "(" number ")", in properties also the name of a number
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import NamedTuple

from .words import LARGEST_BLOCK, OPERATORS, REDUCTIONS, Dim, Fault, LoopPragma, Names, Place, Pragma, StatementPragma

_LOOP_WORDS = (
    "parallel",
    "for",
    "sequential",
    "simd",
    "block",
    "num_warps",
    "reduction",
    "shared",
    "to",
    "from",
    "global",
)
_PROPERTIES = ("parallel", "simd", "block", "single_block", "le", "reduce", "reduction")
_LARGEST_VECTOR = 1 << 20
_LISTS = ("shared", "to", "from", "global")
_TOKEN = re.compile(r"\s*(?:(?P<name>[^\W\d]\w*)|(?P<number>\d+)|(?P<sign>[^\w\s]))")
_ELSEWHERE = {  # words of other languages of pragmas, with their replacements
    "omp": "leave out 'omp': the words of APPy follow '#pragma' directly",
    "acc": "leave out 'acc': the words of APPy follow '#pragma' directly",
    "single": "write '#pragma sequential for', which one worker runs",
    "workshare": "write '#pragma simd' before the loop, whose iterations the lanes of the worker share",
    "collapse": "write '#pragma parallel for' before each loop",
    "private": "leave it out: variables that an iteration assigns are private, except for reductions and shared(…)",
}
_FORMS = "write for example '#pragma parallel for', '#pragma simd' or '#pragma :N=>parallel'"


class Token(NamedTuple):
    text: str
    begin: int  # the first and, next, the end position in the text of the pragma
    end: int


class Refused(Exception):
    """Ends the parsing of a pragma whose fault is noted."""


class Comment(NamedTuple):
    """The comment of a pragma: the text after '#pragma', and its place."""

    text: str
    line: int
    column: int  # the column of the '#', counted from 1 in bytes
    offset: int  # the distance from the '#' to the text

    def place(self, begin: int, end: int) -> Place:
        def column(at: int) -> int:
            return self.column + self.offset + len(self.text[:at].encode())

        return Place(self.line, column(begin), max(column(end), column(begin) + 1))

    @property
    def whole(self) -> Place:
        return Place(self.line, self.column, self.column + self.offset + len(self.text.rstrip().encode()))


def parse_pragma(comment: Comment) -> Pragma | Fault:
    """The parsed pragma, or its fault."""
    reader = _Reader(comment)
    try:
        dimensions = "=>" in comment.text or len(_parts(comment.text)) > 1
        return reader.statement() if dimensions or reader.begins_with("atomic") else reader.loop()
    except Refused:
        assert reader.fault is not None
        return reader.fault


class _Reader:
    """Reads one pragma from left to right."""

    def __init__(self, comment: Comment) -> None:
        self.comment = comment
        self.fault: Fault | None = None
        self._at = 0

    # ------------------------------------------------------------ tokens

    def _peek(self) -> Token | None:
        found = _TOKEN.match(self.comment.text, self._at)
        if found is None:
            return None
        kind = found.lastgroup or ""
        return Token(found[kind], found.start(kind), found.end(kind))

    def _next(self) -> Token | None:
        token = self._peek()
        if token is not None:
            self._at = token.end
        return token

    def begins_with(self, word: str) -> bool:
        token = self._peek()
        return token is not None and token.text == word

    def _refuse(self, code: str, token: Token | None, message: str, help_text: str = "") -> Refused:
        end = len(self.comment.text.rstrip())
        begin, end = (end, end + 1) if token is None else (token.begin, token.end)
        self.fault = Fault(code, self.comment.place(begin, end), message, help_text)
        return Refused()

    def _unknown(self, token: Token, allowed: Sequence[str], what: str) -> Refused:
        close = get_close_matches(token.text.lower(), allowed, n=1, cutoff=0.6)
        fix = f"did you mean '{close[0]}'?" if close else f"allowed are {', '.join(allowed)}"
        fix = _ELSEWHERE.get(token.text, fix)
        return self._refuse("P030", token, f"'{token.text}' is not a {what} of a pragma", fix)

    def _expect(self, text: str, behind: str) -> Token:
        token = self._next()
        if token is None or token.text != text:
            found = "the end of the pragma" if token is None else f"'{token.text}'"
            raise self._refuse("P030", token, f"'{text}' is expected after {behind}, not {found}")
        return token

    # ------------------------------------------------------------ loops

    def loop(self) -> LoopPragma:
        first = self._peek()
        if first is None:
            raise self._refuse("P030", None, "a pragma without a word", _FORMS)
        found: dict[str, Token] = {}
        values: dict[str, int] = {}
        lists: list[Names] = []
        while (token := self._next()) is not None:
            word = token.text
            if word not in _LOOP_WORDS:
                allowed: tuple[str, ...] = _LOOP_WORDS if found else (*_LOOP_WORDS, "atomic")
                if [*found][-1:] in (["parallel"], ["sequential"]) and get_close_matches(word, ["for"]):
                    allowed = ("for",)
                raise self._unknown(token, allowed, "word")
            if word in found and word not in ("reduction", *_LISTS):
                raise self._refuse("P032", token, f"'{word}' is given twice", "leave out one of them")
            self._in_order(token, found)
            found.setdefault(word, token)
            if word in ("block", "num_warps") or (word == "simd" and self.begins_with("(")):
                values[word] = self._width(word, token)
            elif word == "reduction":
                lists.append(self._reduction())
            elif word in _LISTS:
                lists.append(self._names(word))
        self._agree(found, values, lists)
        return LoopPragma(
            self.comment.whole,
            parallel="parallel" in found,
            sequential="sequential" in found,
            simd="simd" in found or "block" in found,
            width=values.get("simd", 0) or values.get("block", 0),
            warps=values.get("num_warps", 0),
            lists=tuple(lists),
        )

    def _in_order(self, token: Token, found: dict[str, Token]) -> None:
        """Directives come first: `parallel for`, `sequential for`, `simd`."""
        word = token.text
        if word == "for" and [*found][-1:] not in (["parallel"], ["sequential"]):
            raise self._refuse("P030", token, "'for' must follow 'parallel' or 'sequential'", _FORMS)
        if word in ("parallel", "sequential") and found:
            first = next(iter(found))
            if {word, first} == {"parallel", "sequential"}:
                raise self._refuse(
                    "P032", token, f"'{first}' and '{word}' contradict each other", "leave out one of them"
                )
            raise self._refuse(
                "P030", token, f"'{word}' stands at the beginning of a pragma", f"write '#pragma {word} for {first}'"
            )
        if not found and word not in ("parallel", "sequential", "simd"):
            raise self._refuse(
                "P030",
                token,
                f"a pragma does not begin with '{word}'",
                f"write '#pragma parallel for {word}', if the loop after it is to run in parallel",
            )

    def _agree(self, found: dict[str, Token], values: dict[str, int], lists: list[Names]) -> None:
        if "sequential" in found:
            if "for" not in found:
                raise self._refuse(
                    "P030", None, "'for' is expected after 'sequential'", "write '#pragma sequential for'"
                )
            others = [word for word in ("simd", "block", "num_warps", "reduction") if word in found]
            if others:
                what = f"'sequential' and '{others[0]}' contradict each other: one worker runs the iterations in order"
                raise self._refuse("P032", found[others[0]], what, f"leave out '{others[0]}'")
        if "simd" in values and "block" in values and values["simd"] != values["block"]:
            what = f"simd({values['simd']}) and block({values['block']}) are two vector lengths of one loop"
            raise self._refuse("P032", found["block"], what, "leave out one of them")
        if "num_warps" in values and found.keys() & {"simd", "block"} and "parallel" not in found:
            raise self._refuse(
                "P032", found["num_warps"], "'num_warps' describes workers, and a simd loop has no workers of its own",
                "write it in the pragma of the parallel loop around it",
            )  # fmt: skip
        for each in lists:
            for name, place in zip(each.names, each.places, strict=True):
                if each.names.count(name) > 1:
                    self.fault = Fault("P032", place, f"'{name}' is listed twice in '{each.clause}'", "name it once")
                    raise Refused

    def _width(self, word: str, token: Token) -> int:
        self._expect("(", f"'{word}'")
        number = self._next()
        if number is None or not number.text.isdigit():
            found = "nothing" if number is None else f"'{number.text}'"
            raise self._refuse(
                "P030", number, f"'{word}' takes a whole number, not {found}", f"write for example {word}(4)"
            )
        self._expect(")", f"the number of '{word}'")
        self._check_width(word, int(number.text), number)
        return int(number.text)

    def _check_width(self, word: str, value: int, token: Token) -> None:
        most = LARGEST_BLOCK // 32 if word == "num_warps" else _LARGEST_VECTOR
        if not 1 <= value <= most:
            raise self._refuse(
                "P030", token, f"'{word}' takes a number from 1 to {most}, not {value}",
                "a block has at most 32 warps" if word == "num_warps" else "longer loops take several vectors",
            )  # fmt: skip

    def _names(self, clause: str, op: str = "") -> Names:
        if not op:
            self._expect("(", f"'{clause}'")
        names: list[str] = []
        places: list[Place] = []
        while True:
            token = self._next()
            if token is not None and token.text == ")" and not names and not op:
                break
            if token is None or not token.text.isidentifier():
                found = "nothing" if token is None else f"'{token.text}'"
                raise self._refuse("P030", token, f"'{clause}' takes names of variables, not {found}")
            names.append(token.text)
            places.append(self.comment.place(token.begin, token.end))
            behind = self._next()
            if behind is not None and behind.text == ")":
                break
            if behind is None or behind.text != ",":
                found = "nothing" if behind is None else f"'{behind.text}'"
                raise self._refuse("P030", behind, f"',' or ')' is expected after '{token.text}', not {found}")
        return Names(clause, tuple(names), tuple(places), op)

    def _reduction(self) -> Names:
        self._expect("(", "'reduction'")
        token = self._next()
        words = {"sum": "+", "add": "+", "prod": "*", "mul": "*"}
        if token is None or token.text not in OPERATORS:
            found = "nothing" if token is None else f"'{token.text}'"
            close = words.get(token.text) if token is not None else None
            fix = f"did you mean '{close}'?" if close else f"allowed are {' '.join(OPERATORS)}"
            raise self._refuse("P030", token, f"'reduction' of a loop takes an operator, not {found}", fix)
        self._expect(":", f"'{token.text}'")
        return self._names("reduction", token.text)

    # ------------------------------------------------------------ statements

    def statement(self) -> StatementPragma:
        atomic = self.begins_with("atomic")
        if atomic:
            self._next()
        dims: list[Dim] = []
        while self._peek() is not None:
            dims.append(self._dimension(atomic))
        return StatementPragma(self.comment.whole, atomic, tuple(dims))

    def _dimension(self, atomic: bool) -> Dim:
        first = self._peek()
        assert first is not None
        arrow = self.comment.text.find("=>", first.begin)
        if arrow < 0:
            word = Token(self.comment.text[first.begin :].rstrip(), first.begin, len(self.comment.text.rstrip()))
            continued = self.comment.text.rfind("=>", 0, first.begin) >= 0  # the word follows a dimension
            if continued and ":" not in word.text and first.text in _PROPERTIES:
                before = self.comment.text[: first.begin].split()
                apart = before[-1] == "=>"  # a colon separates the property from its arrow
                fix = f"write '{before[-2]}=>{first.text}'" if apart else f"write '{before[-1]},{first.text}'"
                raise self._refuse("P030", first, f"'{first.text}' is separated from its dimension", fix)
            if first.text.isidentifier() and ":" not in word.text:
                raise self._unknown(first, _PROPERTIES if not atomic else ("atomic",), "word")
            if continued and ":" not in word.text:
                raise self._refuse("P030", first, f"'{first.text}' belongs to no property", "leave it out")
            dimension = re.match(r"[^\s=>-]*:[^\s=>-]*", word.text)
            slice_, rest = word.text, "parallel"
            if dimension is not None:
                slice_, rest = dimension[0], word.text[dimension.end() :].lstrip("=-> ") or rest
            fix = f"write '{slice_}=>{rest}'"
            raise self._refuse("P030", word, f"'=>' is expected after '{slice_}'", fix)
        written = Token(self.comment.text[first.begin : arrow].rstrip(), first.begin, arrow)
        low, high = self._slice(written)
        self._at = arrow + 2
        found: dict[str, Token] = {}
        given: dict[str, int | str] = {}
        if (token := self._peek()) is not None and token.begin == self._at:
            while True:
                self._property(found, given)
                behind = self._peek()
                if behind is None or behind.text != ",":
                    break
                self._next()
        begin = first.begin
        self._check_properties(found, given, Token(written.text, begin, begin + len(written.text)))
        le = given.get("le", 0)
        width = given.get("simd", 0) or given.get("block", 0) or le
        return Dim(
            self.comment.place(begin, begin + len(written.text)), low, high, written.text,
            parallel="parallel" in found,
            simd=bool(found.keys() & {"simd", "block", "le", "single_block"}),
            width=width,
            single_block="single_block" in found or bool(le),
            most=le or (width if "single_block" in found else 0),
            reduction=str(given.get("op", "")),
            target=str(given.get("target", "")),
            properties=tuple(found),
        )  # fmt: skip

    def _slice(self, written: Token) -> tuple[ast.expr | None, ast.expr]:
        parts = _parts(written.text)
        if len(parts) == 1:
            raise self._refuse("P030", written, f"'{written.text}' is not a slice", f"write ':{written.text}=>…'")
        if len(parts) > 2:
            raise self._refuse(
                "P030",
                written,
                f"the slice '{written.text}' has a step",
                "a dimension of a pragma has no step: write low:high",
            )
        low, high = (part.strip() for part in parts)
        if not high:
            raise self._refuse(
                "P030", written, f"the slice '{written.text}' has no upper bound", "write it out, as in ':N=>parallel'"
            )
        return (self._expression(low, written) if low else None), self._expression(high, written)

    def _expression(self, text: str, written: Token) -> ast.expr:
        try:
            return ast.parse(text, mode="eval").body
        except SyntaxError:
            raise self._refuse("P030", written, f"'{text}' is not a Python expression") from None

    def _property(self, found: dict[str, Token], given: dict[str, int | str]) -> None:
        token = self._next()
        if token is None:
            raise self._refuse("P030", None, "a property is expected after ','")
        word = token.text
        if word not in _PROPERTIES:
            raise self._unknown(token, _PROPERTIES, "property")
        if word in found:
            raise self._refuse("P032", token, f"'{word}' is given twice", "leave out one of them")
        found[word] = token
        if word in ("reduce", "reduction"):
            self._reduced(word, given)
        elif word in ("block", "le") or (word == "simd" and self.begins_with("(")):
            self._expect("(", f"'{word}'")
            number = self._next()
            if number is None or not (number.text.isdigit() or number.text.isidentifier()):
                what = "nothing" if number is None else f"'{number.text}'"
                raise self._refuse("P030", number, f"'{word}' takes a number or the name of one, not {what}")
            self._expect(")", f"the number of '{word}'")
            if number.text.isdigit():
                self._check_width(word, int(number.text), number)
            given[word] = int(number.text) if number.text.isdigit() else number.text

    def _reduced(self, word: str, given: dict[str, int | str]) -> None:
        self._expect("(", f"'{word}'")
        token = self._next()
        signs = {"+": "sum", "*": "prod"}
        if token is None or token.text not in REDUCTIONS:
            found = "nothing" if token is None else f"'{token.text}'"
            near = get_close_matches(token.text, REDUCTIONS, n=1) if token is not None else []
            near = [signs[token.text]] if token is not None and token.text in signs else near
            fix = f"did you mean '{near[0]}'?" if near else f"allowed are {', '.join(REDUCTIONS)}"
            raise self._refuse("P030", token, f"'{word}' of a dimension takes a reduction, not {found}", fix)
        given["op"] = token.text
        if self.begins_with(":"):
            self._next()
            name = self._next()
            if name is None or not name.text.isidentifier():
                what = "nothing" if name is None else f"'{name.text}'"
                raise self._refuse("P030", name, f"the name of a variable or array is expected, not {what}")
            given["target"] = name.text
        self._expect(")", f"the reduction of '{word}'")

    def _check_properties(self, found: dict[str, Token], given: dict[str, int | str], written: Token) -> None:
        reduces = next((found[word] for word in ("reduce", "reduction") if word in found), None)
        if {"reduce", "reduction"} <= found.keys():
            raise self._refuse("P032", found["reduction"], "'reduce' and 'reduction' mean the same", "leave out one")
        if reduces is not None and "parallel" in found:
            raise self._refuse(
                "P032", reduces,
                f"the dimension '{written.text}' is parallel and reduced at once",
                "leave out 'parallel': the reduction runs in vectors anyway",
            )  # fmt: skip
        widths = {given[word] for word in ("simd", "block", "le") if word in given}
        if len(widths) > 1:
            raise self._refuse(
                "P032", written, f"the dimension '{written.text}' has two vector lengths", "leave out one"
            )
        if "single_block" in found and not widths:
            raise self._refuse(
                "P032", found["single_block"],
                "'single_block' says that one vector holds the dimension, but no length is given",
                "write block(512),single_block or le(512)",
            )  # fmt: skip


def _parts(text: str) -> list[str]:
    """The parts of the text between colons outside of brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == ":" and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    return parts
