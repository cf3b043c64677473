"""Lessons worded by a model behind an OpenAI-compatible endpoint: `IJFW_AUTOMEM_MODEL=openai:NAME`.

Only the transport is here; everything else is `ijfw_core.synthesis` and the kernel.
"""

from collections.abc import Callable, Sequence

import msgspec

from ijfw_core import synthesis
from ijfw_core.synthesis import ModelError, wire
from ijfw_hookspecs import Answer, Candidate, Context, Prompt, Request, hookimpl

MODELS = "openai:"
TRIES = 2  # further ones to connect


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[plugins.synthesize-openai] of the user's config.toml."""

    base_url: str = (
        "http://127.0.0.1:8080/v1"  # this computer, or another by https
    )
    key: str = "openai"  # whose key is sent; "" for none


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
    return synthesis.answer(request, context, host=host, send=transport(config.base_url, key))


def transport(url: str, key: str) -> Callable[[Prompt], Answer]:
    """What sends a prompt to the chat completions at `url`."""

    def send(prompt: Prompt) -> Answer:
        import httpx

        options = wire.options(httpx, url, tries=TRIES)
        if key:
            options["headers"]["Authorization"] = f"Bearer {key}"
        form = {"name": "lessons", "strict": True, "schema": dict(prompt.schema)}
        body = {
            "model": prompt.model.removeprefix(MODELS),
            "max_tokens": prompt.max_tokens,
            "messages": [
                {"role": "system", "content": prompt.system},
                {"role": "user", "content": prompt.text},
            ],
            "response_format": {"type": "json_schema", "json_schema": form},
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
