"""Which parts of a Python test never run, or fail without anybody hearing of it: an assertion there is none."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_ENDS = ast.Return | ast.Raise | ast.Continue | ast.Break
_HEARS = frozenset({"AssertionError", "Exception", "BaseException"})
_SWALLOWS = frozenset({"suppress", "raises", "assertRaises"})
_PRINTS = frozenset({"print", "debug", "info", "warning", "error", "exception", "print_exc", "sleep"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def unheard(tree: ast.Module) -> frozenset[ast.AST]:
    """The nodes of `tree` below which nothing counts: dead code, what is caught, functions that are defined again or never named."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        for block in () if isinstance(node, ast.Module) else _blocks(node):
            found.update(_after_the_end(block))
        if isinstance(node, ast.Module | ast.ClassDef):
            found.update(_defined_again(node.body))
        elif isinstance(node, _Function):
            found.update(_never_named(node))
        found.update(_never_entered(node))
        found.update(_caught(node))
    return frozenset(found)


def _blocks(node: ast.AST) -> Iterator[Sequence[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block


def _after_the_end(block: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    at = next((place for place, one in enumerate(block) if isinstance(one, _ENDS)), len(block))
    return block[at + 1 :]


def _defined_again(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    later: set[str] = set()
    for one in reversed(block):
        if isinstance(one, _Function | ast.ClassDef):
            if one.name in later and not one.decorator_list:
                yield one
            later.add(one.name)


def _never_named(function: _Function) -> Iterator[ast.stmt]:
    named = {node.id for node in ast.walk(function) if isinstance(node, ast.Name)}
    for one in ast.walk(function):
        if isinstance(one, _Function) and one is not function and one.name not in named and not one.decorator_list and not _in_class(function, one):
            yield one


def _in_class(function: _Function, inner: _Function) -> bool:
    return any(inner in node.body for node in ast.walk(function) if isinstance(node, ast.ClassDef))


def _never_entered(node: ast.AST) -> Sequence[ast.AST]:
    match node:
        case ast.If(test, body, orelse):
            held = _constant(test)
            return () if held is None else orelse if held else body
        case ast.While(test, body):
            return body if _constant(test) is False else ()
        case ast.For(iter=ast.List([]) | ast.Tuple([]) | ast.Constant(""), body=body):
            return body
    return ()


def _constant(test: ast.expr) -> bool | None:
    """What a condition that depends on nothing comes to; None for any other. Who compares two values of the text has no honest reason to."""
    match test:
        case ast.Constant(value):
            return bool(value)
        case ast.UnaryOp(ast.Not(), operand):
            held = _constant(operand)
            return None if held is None else not held
        case ast.BoolOp(op, values):
            parts, decides = [_constant(value) for value in values], isinstance(op, ast.Or)
            return decides if decides in parts else None if None in parts else not decides
        case ast.Compare(left, _, rights) if all(isinstance(one, ast.Constant) for one in (left, *rights)):
            return False
    return False if isinstance(test, ast.Name) and test.id == "TYPE_CHECKING" else None


def _caught(node: ast.AST) -> Sequence[ast.AST]:
    """The body of a `try` or `with` that hears a failed assertion and says nothing."""
    match node:
        case ast.Try(body=body, handlers=handlers):
            return body if any(_hears(one.type) and not _speaks(one.body) for one in handlers) else ()
        case ast.With(items, body) | ast.AsyncWith(items, body):
            return [*items, *body] if any(_swallows(item.context_expr) for item in items) and _asserts(body) else ()
    return ()


def _asserts(block: Sequence[ast.stmt]) -> bool:
    nodes = [node for one in block for node in ast.walk(one)]
    return any(isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and last_name(node.func).startswith("assert")) for node in nodes)


def _hears(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(one is None or last_name(one) in _HEARS for one in kinds)


def _speaks(block: Sequence[ast.stmt]) -> bool:
    """Whether a handler does anything but go on: whoever raises, asserts or calls something, but to print it, may fail the test for it."""
    nodes = [node for one in block for node in ast.walk(one)]
    return any(isinstance(node, ast.Raise | ast.Assert) or (isinstance(node, ast.Call) and last_name(node.func) not in _PRINTS) for node in nodes)


def _swallows(context: ast.expr) -> bool:
    return isinstance(context, ast.Call) and last_name(context.func) in _SWALLOWS and any(_hears(argument) for argument in context.args)


def last_name(node: ast.expr) -> str:
    """The last part of a dotted name, "" for what is none."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
