"""Our protocol with the tools and resources that the conformance package asks a server to have."""

import base64
import time

from ijfw_core.mcp import schemas
from ijfw_core.mcp.loop import Jobs, Json, Loop, Wire, private_stdio
from ijfw_core.mcp.protocol import Call, Session

DATA = base64.b64encode(b"not really a picture").decode()
TEXT: Json = {"type": "text", "text": "This is a simple text response for testing."}
IMAGE: Json = {"type": "image", "data": DATA, "mimeType": "image/png"}
AUDIO: Json = {"type": "audio", "data": DATA, "mimeType": "audio/wav"}
EMBEDDED: Json = {
    "type": "resource",
    "resource": {"uri": "test://embedded", "mimeType": "text/plain", "text": "embedded"},
}
CONTENT: dict[str, list[Json]] = {
    "test_simple_text": [TEXT],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [EMBEDDED],
    "test_multiple_content_types": [TEXT, IMAGE, EMBEDDED],
    "test_tool_with_logging": [TEXT],
    "test_tool_with_progress": [TEXT],
    "test_error_handling": [TEXT],
    "json_schema_2020_12_tool": [TEXT],
}
ADDRESS: Json = {
    "type": "object",
    "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
}
INPUT: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": ADDRESS},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


def perform(call: Call) -> Json:
    """A tool or a resource of the conformance package."""
    if call.method == "resources/read":
        uri = str(call.params["uri"])
        page: Json = {"uri": uri, "mimeType": "text/plain", "text": f"text of {uri}"}
        if uri.endswith("binary"):
            page = {"uri": uri, "mimeType": "image/png", "blob": DATA}
        return {"contents": [page]}
    name = str(call.params["name"])
    for step in range(3):
        if name == "test_tool_with_logging":
            call.log("info", f"step {step}")
        if name == "test_tool_with_progress":
            call.progress(50 * step, 100, f"step {step}")
        time.sleep(0.01)
    return {"content": CONTENT[name], "isError": name == "test_error_handling"}


if __name__ == "__main__":
    schemas.TOOLS = [{"name": name, "description": name, "inputSchema": INPUT} for name in CONTENT]
    schemas.NAMES = frozenset(CONTENT)
    read, write = private_stdio()
    wire, jobs = Wire(write), Jobs()
    session = Session(wire, jobs, perform, lambda: None)
    Loop(read, wire, jobs, session.receive).run()
