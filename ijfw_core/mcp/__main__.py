"""`python -I -m ijfw_core.mcp`: the server, as adapters write it into an agent's settings."""

from ijfw_core.mcp.server import serve

if __name__ == "__main__":
    serve()
