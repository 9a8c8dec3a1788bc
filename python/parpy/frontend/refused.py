"""The messages for expressions and statements outside the language: a description and a remedy for each."""

from __future__ import annotations

import ast

EXPRESSIONS: dict[type[ast.expr], tuple[str, str]] = {
    ast.ListComp: ("a list comprehension", "write a for loop that stores into an array"),
    ast.SetComp: ("a set comprehension", "write a for loop that stores into an array"),
    ast.DictComp: ("a dict comprehension", "write a for loop that stores into an array"),
    ast.GeneratorExp: ("a generator expression", "pass it to sum, min, max, any or all, or write a for loop"),
    ast.Await: ("'await'", "call the function from ordinary Python"),
    ast.Yield: ("'yield'", "store the values into an array"),
    ast.YieldFrom: ("'yield from'", "store the values into an array"),
    ast.JoinedStr: ("an f-string", "format the text in the caller"),
    ast.List: ("a list", "use an array, np.array([1, 2])"),
    ast.Set: ("a set", "use an array"),
    ast.Dict: ("a dict", "pass the dict as an argument, or give it a name of its own"),
    ast.Starred: ("a starred expression", "write the elements one by one"),
    ast.Slice: ("a slice", "write a for loop over the elements"),
}

STATEMENTS: dict[type[ast.stmt], tuple[str, str]] = {
    ast.AsyncFunctionDef: ("an asynchronous function", "define it outside as an ordinary function"),
    ast.ClassDef: ("a class", "define it outside of the function"),
    ast.Import: ("an import", "import at the top of the module"),
    ast.ImportFrom: ("an import", "import at the top of the module"),
    ast.Global: ("'global'", "pass an array of one element and assign to it"),
    ast.Nonlocal: ("'nonlocal'", "pass an array of one element and assign to it"),
    ast.Delete: ("'del'", "leave it out; local variables end with the function"),
    ast.Try: ("'try'", "test for the condition with 'if' instead"),
    ast.TryStar: ("'try'", "test for the condition with 'if' instead"),
    ast.AsyncFor: ("'async for'", "use an ordinary for loop"),
    ast.AsyncWith: ("'async with'", "use an ordinary statement"),
    ast.Match: ("this 'match'", "use numbers, names, None and tuples of them as cases, or if and elif"),
}
