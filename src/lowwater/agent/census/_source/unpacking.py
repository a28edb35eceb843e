"""Assignments, loops and calls taken apart: which target takes which value."""

import ast
from collections.abc import Iterator

from lowwater.agent.census._source.scopes import Chain, chains_of


def assigned_pairs(
    target: ast.expr, value: ast.expr | None
) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Each single target of an assignment with what it is given, where that can be seen."""
    match target, value:
        case ast.Starred(value=inner), _:
            yield from assigned_pairs(inner, None)
        case (
            (ast.Tuple(elts=targets) | ast.List(elts=targets)),
            (ast.Tuple(elts=values) | ast.List(elts=values)),
        ) if len(targets) == len(values):
            for one, part in zip(targets, values, strict=True):
                yield from assigned_pairs(one, part)
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
            for one in targets:
                yield from assigned_pairs(one, None)
        case _:
            yield target, value


def loop_pairs(target: ast.expr, source: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Each loop variable with the container whose items it takes."""
    match target, source:
        case ast.Tuple(elts=[_, item]), ast.Call(
            func=ast.Name(id="enumerate"), args=[container, *_]
        ):
            yield from loop_pairs(item, container)
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=containers):
            for item, container in zip(targets, containers, strict=False):
                yield from loop_pairs(item, container)
        case ast.Tuple(elts=[_, item]), ast.Call(func=ast.Attribute(value=container, attr="items")):
            yield item, container
        case _, ast.Call(func=ast.Attribute(value=container, attr="values")):
            yield target, container
        case _:
            yield target, source


def arguments_of(call: ast.Call) -> Iterator[tuple[int | str, ast.expr]]:
    for position, value in enumerate(call.args):
        if isinstance(value, ast.Starred):
            break
        yield position, value
    for keyword in call.keywords:
        if keyword.arg is not None:
            yield keyword.arg, keyword.value


def named_type(annotation: ast.expr | None) -> list[Chain]:
    match annotation:
        case ast.Name() | ast.Attribute():
            return chains_of(annotation)
        case ast.Constant(value=str(name)) if name.isidentifier():
            return [Chain((name,))]
    return []
