"""What the distribution ships, and which way its parts depend on each other."""

import ast
import subprocess
import sys
from importlib.metadata import files
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = {
    "ijfw_hookspecs": ROOT / "hookspecs/ijfw_hookspecs",
    "ijfw_core": ROOT / "ijfw_core",
    "ijfw_plugins": ROOT / "plugins/ijfw_plugins",
}
FACE = {
    "ijfw_core.text",
    "ijfw_core.adapter",
    "ijfw_core.edits",
    "ijfw_core.grammar",
    "ijfw_core.compare",
    "ijfw_core.curation",
    "ijfw_core.storekit",
    "ijfw_core.synthesis",
    "ijfw_core.testing",
    "ijfw_core.jsonlog",
    "ijfw_core.toolcalls",
}  # what a plugin may import


def imports(path: Path) -> set[str]:
    """Every module named in an import of a file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names if node.module in ("ijfw_core", "ijfw_plugins") else {node.module}
    return found


def sources(part: str) -> list[Path]:
    return sorted(PARTS[part].rglob("*.py"))


@pytest.mark.parametrize("path", sources("ijfw_hookspecs"), ids=lambda p: p.name)
def test_the_contract_imports_pluggy_and_msgspec_only(path: Path) -> None:
    allowed = {"collections", "datetime", "typing", "pluggy", "msgspec", "ijfw_hookspecs"}
    assert {name.split(".")[0] for name in imports(path)} <= allowed


@pytest.mark.parametrize("path", sources("ijfw_core"), ids=lambda p: p.stem)
def test_the_kernel_imports_no_plugin(path: Path) -> None:
    assert not [name for name in imports(path) if name.split(".")[0] == "ijfw_plugins"]


@pytest.mark.parametrize("path", sources("ijfw_plugins"), ids=lambda p: p.stem)
def test_plugins_import_the_contract_and_the_face_of_the_kernel(path: Path) -> None:
    own = path.relative_to(PARTS["ijfw_plugins"]).parts[0].removesuffix(".py")
    for name in imports(path):
        top = name.split(".")[0]
        if top == "ijfw_core":
            assert any(name == face or name.startswith(f"{face}.") for face in FACE), name
        elif top == "ijfw_plugins":
            assert name.split(".")[1:2] == [own], name


def test_the_kernel_has_no_circle() -> None:
    graph = {}
    for path in sources("ijfw_core"):
        tree = ast.parse(path.read_text("utf-8"))
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        # only what is imported when the module is; a late import is no circle
        tree.body = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
        graph[module] = {
            name
            for node in tree.body
            if isinstance(node, ast.ImportFrom) and node.module
            for name in ({f"{node.module}.{a.name}" for a in node.names} | {node.module})
            if name.startswith("ijfw_core")
        }

    def reach(module: str, trail: tuple[str, ...]) -> None:
        assert module not in trail, " -> ".join((*trail, module))
        for other in graph.get(module, ()):
            if other in graph and other != "ijfw_core":
                reach(other, (*trail, module))

    for module in graph:
        if module != "ijfw_core":
            reach(module, ())


def test_the_distribution_ships_three_names() -> None:
    shipped = files("ijfw") or []
    tops = {Path(str(name)).parts[0] for name in shipped if ".dist-info" not in str(name)}
    tops = {top for top in tops if top != ".."}  # the script
    if any(top.endswith(".pth") for top in tops):
        pytest.skip("an editable install ships a .pth file")
    assert tops == set(PARTS)
    assert all(f"{part}/py.typed" in {str(name) for name in shipped} for part in PARTS)


def test_the_core_runs_without_heavy_packages(tmp_path: Path) -> None:
    block = (
        "import sys\n"
        "class No:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in {'rank_bm25', 'numpy', 'keyring'}:\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, No())\n"
        "from ijfw_core.cli import main\n"
        "main(['demo', '--json'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", block],
        env={"HOME": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"stored":["' in done.stdout


def test_a_hook_and_a_help_import_nothing_heavy(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from ijfw_core.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'rank_bm25', 'numpy', 'keyring', 'rich', 'regex', 'tomlkit', 'msgspec'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "HEAVY []" in done.stdout


NAMED_AS_FOLDERS = {"cli", "mcp", "grammar"}
NAMED = [
    path
    for path in sources("ijfw_core")
    if path.name != "__init__.py" and path.parent.name not in NAMED_AS_FOLDERS
]


@pytest.mark.parametrize("path", NAMED, ids=lambda p: p.stem)
def test_the_architecture_names_every_module_of_the_kernel(path: Path) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    folder = path.parent.name
    assert f"`{path.name}`" in text
    assert folder == "ijfw_core" or f"`ijfw_core/{folder}/`" in text
