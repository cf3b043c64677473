"""Lessons worded by a model behind an OpenAI-compatible endpoint: `IJFW_AUTOMEM_MODEL=openai:NAME`.

Only the transport is here; everything else is `ijfw_core.synthesis` and the kernel.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from ijfw_core import synthesis
from ijfw_core.synthesis import ModelError, wire
from ijfw_hookspecs import Answer, Candidate, Context, Prompt, Request, hookimpl

MODELS = "openai:"
Form = Literal["json_schema", "json_object", "text"]
TRIES = 2  # further ones to connect


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[plugins.synthesize-openai] of the user's config.toml."""

    base_url: str = "http://127.0.0.1:8080/v1"  # this computer, or another by https
    key: str = "openai"  # whose key is sent; "" for none
    form: Form = "json_schema"  # how the server is told the form of the answer


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None


@hookimpl
def synthesize(request: Request, context: Context) -> Sequence[Candidate] | None:
    """Answer for models whose name starts with "openai:"."""
    if not request.model.startswith(MODELS) or context.models is None:
        return None
    config = context.settings or Config()
    try:
        host = wire.host_of(config.base_url)
    except ValueError as error:
        context.models.failed(f"[plugins.synthesize-openai] base_url: {error}")
        return None
    key = context.models.key(config.key) if config.key else ""
    send = transport(config.base_url, key, config.form)
    return synthesis.answer(request, context, host=host, send=send)


def transport(url: str, key: str, form: Form = "json_schema") -> Callable[[Prompt], Answer]:
    """What sends a prompt to the chat completions at `url`."""

    def send(prompt: Prompt) -> Answer:
        import httpx

        options = wire.options(httpx, url, tries=TRIES)
        if key:
            options["headers"]["Authorization"] = f"Bearer {key}"
        body = {
            "model": prompt.model.removeprefix(MODELS),
            "max_tokens": prompt.max_tokens,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.text},
            ],
            "response_format": _form(form, dict(prompt.schema)),
        }
        try:
            with httpx.Client(timeout=prompt.seconds, **options) as client:
                answer = client.post(f"{url.rstrip('/')}/chat/completions", json=body)
        except (httpx.HTTPError, wire.TooLargeError) as error:
            raise ModelError(f"no answer ({type(error).__name__})") from None
        if answer.status_code != 200:
            raise ModelError(f"HTTP {answer.status_code}")
        return _answer(answer.content)

    return send


def _form(form: Form, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The form of the answer as the server understands it; what comes is checked all the same."""
    if form == "json_schema":
        strict = {"name": "lessons", "strict": True, "schema": schema}
        return {"type": form, "json_schema": strict}
    return {"type": form, "schema": schema} if form == "json_object" else {"type": form}


def _answer(data: bytes) -> Answer:
    try:
        done = msgspec.json.decode(data, type=_Completion)
    except (msgspec.MsgspecError, RecursionError):
        raise ModelError("the server gave no chat completion") from None
    if not done.choices:
        raise ModelError("the server gave no choice")
    usage = done.usage or _Usage()
    return Answer(
        text=done.choices[0].message.content or "",
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        complete=done.choices[0].finish_reason == "stop",
    )
