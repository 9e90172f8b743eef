"""A program as somebody would disguise it who must still pass: made by machine, so that a test can count."""

import ast


class _Rename(ast.NodeTransformer):
    """Every name that the program binds gets another, except those of its functions and classes at the top, which
    the exercise asks for."""

    def __init__(self, tree: ast.Module) -> None:
        asked = {one.name for one in tree.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
        bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        self.names = {name: f"thing_{number}" for number, name in enumerate(sorted(bound - asked - {"self"}))}

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.copy_location(ast.arg(self.names.get(node.arg, node.arg)), node)


class _Open(ast.NodeTransformer):
    """`x += y` becomes `x = x + y`, and every function begins with a statement that does nothing."""

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.target, ast.Name):
            return node
        value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        idle = ast.Assign([ast.Name("unused_so_far", ast.Store())], ast.List([], ast.Load()))
        node.body.insert(0, idle)
        return node


def rename(source: str) -> str:
    """Other names, another layout, no comments."""
    tree = ast.parse(source)
    return ast.unparse(ast.fix_missing_locations(_Rename(tree).visit(tree)))


def disguise(source: str) -> str:
    """Renamed, and the functions in another order, opened, each with an idle statement."""
    tree = _Open().visit(ast.parse(rename(source)))
    _turn_functions_round(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            _turn_functions_round(node)
    return ast.unparse(ast.fix_missing_locations(tree))


def _turn_functions_round(holder: ast.Module | ast.ClassDef) -> None:
    """The functions of a block, last first, where the functions stood."""
    places = [place for place, one in enumerate(holder.body) if isinstance(one, ast.FunctionDef)]
    turned = [holder.body[place] for place in reversed(places)]
    for place, function in zip(places, turned, strict=True):
        holder.body[place] = function
