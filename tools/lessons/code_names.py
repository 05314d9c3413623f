"""The names that a piece of code binds, reads and passes to a check."""

import ast
import dis
import re
from collections.abc import Iterator
from types import CodeType

PROGRAM = re.compile(r"%%program\b[ \t]*(.*)")


def program(text: str) -> tuple[str, str] | None:
    """Return name and text of the program that a cell holds (`%%program name`), or None."""
    first, _, rest = text.partition("\n")
    found = PROGRAM.fullmatch(first.rstrip())
    return (found[1], rest) if found else None


def is_code(line: str) -> bool:
    """Tell whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def parses(text: str) -> bool:
    """Tell whether Python can read the text, which may be a program of its own."""
    held = program(text)
    try:
        _compiled(held[1] if held else text)
    except SyntaxError:
        return False
    return True


def assigned(text: str) -> set[str]:
    """Return the names that the text binds at its top level. Raises SyntaxError."""
    if program(text):
        return set()  # another process binds them
    return {
        i.argval for i in dis.get_instructions(_compiled(text)) if i.opname in ("STORE_NAME", "STORE_GLOBAL")
    }


def names_read(text: str) -> set[str]:
    """Return the top-level names that the text reads, also inside its functions. Raises SyntaxError."""
    if program(text):
        return set()
    return {
        i.argval
        for code in _nested(_compiled(text))
        for i in dis.get_instructions(code)
        if i.opname in ("LOAD_NAME", "LOAD_GLOBAL")
    }


def chosen(text: str) -> set[str]:
    """Return the predictions that the text chooses, if it does nothing else: `guess.choose(…)`."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return set()
    found = set()
    for line in body:
        match line:
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="choose"))):
                found.add(name)
            case _:
                return set()
    return found


def check_call(text: str) -> tuple[str, ast.Call] | None:
    """Return the name and the call if the text is one call of `lab.check.<name>`, else None."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        return None
    match body:
        case [ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=name)) as call)]:
            return (name, call) if ast.unparse(owner) == "lab.check" else None
    return None


def arguments(text: str) -> list[str]:
    """Return the plain names that a check cell passes, in order."""
    found = check_call(text)
    if found is None:
        return []
    values = [*found[1].args, *(keyword.value for keyword in found[1].keywords)]
    return [value.id for value in values if isinstance(value, ast.Name)]


def _compiled(text: str) -> CodeType:
    return compile(text, "<cell>", "exec", dont_inherit=True)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
