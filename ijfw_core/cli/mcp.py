"""`ijfw mcp`."""

import click


@click.command(epilog="Example: claude mcp add ijfw -- ijfw mcp")
@click.pass_context
def mcp(ctx: click.Context) -> None:
    """Serve memory to an agent over stdio (Model Context Protocol).

    The project is the one of IJFW_PROJECT, of the folders that the client offers, or of the
    working folder.
    """
    from ijfw_core.mcp.server import serve

    serve(third_party=not (ctx.find_root().obj or {}).get("no_plugins", False))
