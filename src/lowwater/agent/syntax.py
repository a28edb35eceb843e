"""What several readers of source code ask of a syntax tree."""

import ast

Function = ast.FunctionDef | ast.AsyncFunctionDef


def last_name(expression: ast.expr) -> str:
    """`fit` of `model.fit` and of `fit`; empty for anything else."""
    match expression:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
