"""What was found out about a file already: no question is answered twice."""

import ast
from dataclasses import dataclass, field

from lowwater.check.pipelines import SourcePipeline
from lowwater.check.rounds import Round
from lowwater.check.scopes import SourceScope


@dataclass(slots=True, eq=False)
class KeptAnswers:
    """The answers for one file, each under what was asked about."""

    round_of: dict[SourceScope, Round | None] = field(default_factory=dict)
    rounds_of_callers: dict[tuple[SourceScope, int], list[Round]] = field(default_factory=dict)
    rounds_of_methods: dict[SourceScope, dict[SourceScope, str]] = field(default_factory=dict)
    changing: dict[tuple[SourceScope, str, Round, bool], bool] = field(default_factory=dict)
    reached_from: dict[ast.AST, list[SourceScope]] = field(default_factory=dict)
    pipelines: dict[ast.expr, list[SourcePipeline]] = field(default_factory=dict)
