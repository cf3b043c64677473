"""The MCP server: memory for any agent, over stdio.

loop.py reads and writes frames, protocol.py answers the protocol, workspace.py opens the project on
the first call, tools.py and resources.py are thin skins over the verbs of memory, render.py turns
entries into text and structures. Up to `tools/list` only the standard library is imported, so that
a client never waits for plugins it may not use.
"""
