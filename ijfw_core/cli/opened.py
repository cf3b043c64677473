"""Opening the project of the current folder for a command."""

import click

from ijfw_core.cli.output import warn
from ijfw_core.project import Project, open_project


def project_of(ctx: click.Context) -> Project:
    """The project of the current folder; problems found while opening are told on stderr."""
    wanted = not (ctx.find_root().obj or {}).get("no_plugins", False)
    project = open_project(third_party=wanted)
    for problem in project.hooks.problems:
        warn(f"ijfw: {problem.message}")
    return project
