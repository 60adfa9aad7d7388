"""Python's tests, by their syntax tree: pytest and unittest."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator

from agent.gate.weakened.protocol import Mark, Tests
from agent.gate.weakened.reach import last_name, unheard

_HOOK = (
    r"pytest_(?:collect\w*|itemcollected|ignore_collect|pycollect_\w+|make_collect_report|runtest\w*|sessionfinish|report_teststatus|pyfunc_call"
    r"|cmdline_\w+|load_initial_conftests|deselected|unconfigure|fixture_setup)"
)
_SKIPS = (
    r"(?:(?:\w+\.)*(?:pytest|unittest|case|mark)\.)?(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure|SkipTest|importorskip|exit)"
    r"|(?:self|cls)\.skipTest|(?:\w+\.)?_exit|os\.exec\w+|sys\.exit|SystemExit|quit"
    rf"|collect_ignore|collect_ignore_glob|load_tests|__test__|{_HOOK}"
)
_RUNNERS = r"(?:_?pytest|unittest|pluggy|nose2?)(?!\.mock)(?:\..*)?"
_OUTCOMES = frozenset({"testsfailed", "exitstatus", "wasxfail", "testscollected"})
_OF_UNITTEST = (
    r"fail|assert(?:Equals?|NotEqual|True|False|Is|IsNot|IsNone|IsNotNone|In|NotIn|Raises|AlmostEqual|Greater|Less|Regex|CountEqual|\w+Equal)"
)
_ASSERTS = r"_?assert\w*|raises|warns|fail|expect\w*|deprecated_call"


def read_python(text: str) -> Tests | None:
    """None where `text` is no Python: the checks will say so."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings, say, which are nobody's here
            return _read(ast.parse(text), text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def read_hooks(text: str) -> Tests | None:
    """As `read_python`, of code that is no test's: nothing but the hooks by which a plugin changes what tests say, wherever it is loaded from."""
    if "pytest_" not in text:
        return Tests()
    found = read_python(text)
    return found and Tests(marks=tuple(mark for mark in found.marks if re.search(_HOOK, mark.text)))


def _read(tree: ast.Module, text: str) -> Tests:
    asserted: dict[str, list[str]] = {}
    for name, node in _with_owner(tree, "", unheard(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            asserted.setdefault(node.name, [])
        told = _assertion(node)
        if told:
            asserted.setdefault(name, []).append(told)
    lines = text.splitlines()
    marked = sorted(
        {node.lineno for node in ast.walk(tree) if isinstance(node, ast.expr | ast.stmt) and re.fullmatch(_SKIPS, _name(node))}
        | _bare(tree)
        | _replaced(tree)
        | _brought_in(tree)
        | _of_runners(tree)
    )
    return Tests({name: tuple(told) for name, told in asserted.items()}, tuple(Mark(at, lines[at - 1].strip()) for at in marked))


def _with_owner(node: ast.AST, owner: str, left_out: Collection[ast.AST]) -> Iterator[tuple[str, ast.AST]]:
    """Every node below `node`, but for those `left_out`, with the name of the function that holds it, which may be renamed with its class or file."""
    for child in ast.iter_child_nodes(node):
        if child in left_out:
            continue
        yield owner, child
        inner = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) and not owner else owner
        yield from _with_owner(child, inner, left_out)


def _assertion(node: ast.AST) -> str:
    """An assertion's source; "" for what is none, and for one that always holds."""
    if isinstance(node, ast.Assert):
        return "" if _always(node.test) else ast.unparse(node.test)
    if not isinstance(node, ast.Call) or not re.fullmatch(_ASSERTS, last_name(node.func)):
        return ""
    if node.args and last_name(node.func) in {"assertTrue", "assert_", "expect"} and _always(node.args[0]):
        return ""
    if len(node.args) > 1 and last_name(node.func) in {"assertEqual", "assertIs"} and ast.dump(node.args[0]) == ast.dump(node.args[1]):
        return ""
    return ast.unparse(node)


def _always(test: ast.expr) -> bool:
    """Whether an expression is true whatever the code under test does."""
    match test:
        case ast.Constant(value):
            return bool(value)
        case ast.BoolOp(ast.Or(), values):
            return any(_always(value) for value in values)
        case ast.BoolOp(ast.And(), values):
            return all(_always(value) for value in values)
        case ast.UnaryOp(ast.Not(), ast.Constant(value)):
            return not value
        case ast.Compare(left, [ast.Eq() | ast.Is()], [right]):
            return ast.dump(left) == ast.dump(right)
    return isinstance(test, ast.Tuple) and bool(test.elts)


def _bare(tree: ast.Module) -> set[int]:
    """The lines of decorators that skip and are called by nothing but their name."""
    decorated = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef))
    return {one.lineno for node in decorated for one in node.decorator_list if isinstance(one, ast.Name) and re.fullmatch(_SKIPS, one.id)}


def _replaced(tree: ast.Module) -> set[int]:
    """The lines where a class, or an object, gets an assertion of unittest's own that is another."""
    inside = [one for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for one in node.body]
    defined = {one.lineno for one in inside if isinstance(one, ast.FunctionDef) and re.fullmatch(_OF_UNITTEST, one.name)}
    targets = (target for node in ast.walk(tree) if isinstance(node, ast.Assign) for target in node.targets)
    return defined | {one.lineno for one in targets if isinstance(one, ast.Attribute | ast.Name) and re.fullmatch(_OF_UNITTEST, last_name(one))}


def _brought_in(tree: ast.Module) -> set[int]:
    """The lines that import a hook, or hold its name as a text."""
    imports = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    named = {node.lineno for node in imports for one in node.names if re.fullmatch(_HOOK, one.asname or one.name)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return named | {node.lineno for node in texts if isinstance(node.value, str) and re.fullmatch(_HOOK, node.value)}


def _of_runners(tree: ast.Module) -> set[int]:
    """The lines that set something of a test runner's own modules, or what a whole run comes to."""
    nodes = list(ast.walk(tree))
    own = {
        (one.asname or one.name).split(".")[0]
        for node in nodes
        if isinstance(node, ast.Import)
        for one in node.names
        if re.fullmatch(_RUNNERS, one.name)
    }
    own |= {
        one.asname or one.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and re.fullmatch(_RUNNERS, node.module or "")
        for one in node.names
    } - {"mock"}
    targets = (target for node in nodes if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) for target in _targets(node))
    found = {one.lineno for one in targets if isinstance(one, ast.Attribute) and (one.attr in _OUTCOMES or _root(one) in own)}
    calls = (node for node in nodes if isinstance(node, ast.Call) and last_name(node.func) == "setattr" and node.args)
    return found | {node.lineno for node in calls if _root(node.args[0]) in own}


def _targets(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _name(node: ast.expr | ast.stmt) -> str:
    """The dotted name that a node uses, defines or sets; "" for what has none that could skip."""
    match node:
        case ast.Attribute():
            return ast.unparse(node)
        case (
            ast.Call(ast.Name(name))
            | ast.Raise(ast.Name(name))
            | ast.FunctionDef(name)
            | ast.Assign([ast.Name(name)])
            | ast.AnnAssign(ast.Name(name))
        ):
            return name
    return ""
