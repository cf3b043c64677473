"""`ijfw plugins new` and `ijfw plugins check`: for people who write plugins."""

from pathlib import Path

import click

from ijfw_core.cli.output import emit_json, json_option, report_errors, say
from ijfw_core.errors import IjfwError
from ijfw_core.loading.hooks import SPECS


@click.command(epilog="Example: ijfw plugins new redact-acme --hook redact")
@click.argument("name")
@click.option("--hook", required=True, type=click.Choice(list(SPECS)), help="What it implements.")
@click.option("--dir", "base", default=".", type=click.Path(file_okay=False), help="Where to.")
@json_option
@report_errors
def new(name: str, hook: str, base: str, as_json: bool) -> None:
    """Start a plugin: a project with module, tests, README and CI that passes its tests at once."""
    from ijfw_core.author import templates

    made = templates.render(name, hook, Path(base))
    if as_json:
        emit_json(
            {
                "folder": str(made.folder),
                "distribution": made.distribution,
                "module": made.package,
                "files": made.files,
            }
        )
        return
    say(f"{made.folder} is ready:")
    for name in made.files:
        say(f"  {name}")
    say(f"Next: cd {made.folder} && pip install -e '.[test]' && pytest && ijfw plugins check .")


@click.command(epilog="Example: ijfw plugins check ./ijfw-redact-acme")
@click.argument("target", metavar="NAME|PATH")
@json_option
@report_errors
def check(target: str, as_json: bool) -> None:
    """What the author of a plugin should hear; exit status 1 where there is something.

    PATH is a project folder or a module. Imports and runs the plugin, enabled or not.
    """
    from ijfw_core.author import checking

    results = checking.check(target)
    if as_json:
        emit_json({"plugins": [one._asdict() for one in results]})
    else:
        for one in results:
            spent = "" if one.import_ms is None else f", imported in {one.import_ms:.0f} ms"
            say(f"{one.name} ({', '.join(one.hooks) or 'no hook'}{spent}): "
                f"{'sound' if not one.faults else f'{len(one.faults)} to mend'}")  # fmt: skip
            for fault in one.faults:
                say(f"  - {fault}")
    if any(one.faults for one in results):
        raise IjfwError("There is something to mend.")
