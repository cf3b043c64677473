"""Memories worded by Claude, through the official SDK: `IJFW_AUTOMEM_MODEL=claude-...`.

Only the transport is here. Prompt, reading of the answer, consent and budgets are shared.
"""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from ijfw_core import synthesis
from ijfw_core.synthesis import ModelError, wire
from ijfw_hookspecs import Answer, Candidate, Context, Prompt, Request, hookimpl

MODELS = "claude-"
URL = "https://api.anthropic.com"
EXTRA = "pip install 'ijfw[anthropic]'"
NO_KEY = "no API key: run `ijfw keys set anthropic`, or put it into ANTHROPIC_API_KEY"
TRIES = 2  # further ones, by the SDK, with backoff or as long as the server asks for
HEADERS = "ANTHROPIC_CUSTOM_HEADERS"  # of the agent: they could name another account
T = TypeVar("T")
COMPLETE = frozenset({"end_turn", "stop_sequence"})


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[plugins.synthesize-anthropic] of the user's config.toml."""

    base_url: str = URL  # of a gateway; https, or this computer
    effort: str = ""  # low, medium, high: for models that think; "" leaves it to the model


@hookimpl
def synthesize(request: Request, context: Context) -> Sequence[Candidate] | None:
    """Answer for models whose name starts with "claude-"."""
    if not request.model.startswith(MODELS) or context.models is None:
        return None
    config = context.settings or Config()
    try:
        host = wire.host_of(config.base_url)
    except ValueError as error:
        context.models.failed(f"[plugins.synthesize-anthropic] base_url: {error}")
        return None
    key = context.models.key("anthropic")
    if not key:
        context.models.failed(NO_KEY)
        return None
    send = transport(key, config.base_url, config.effort)
    return synthesis.answer(request, context, host=host, send=send, needs="anthropic", extra=EXTRA)


def transport(key: str, url: str, effort: str = "") -> Callable[[Prompt], Answer]:
    """What sends a prompt to the Messages API at `url`."""

    def send(prompt: Prompt) -> Answer:
        import anthropic
        import httpx2

        output: dict[str, Any] = {"format": {"type": "json_schema", "schema": dict(prompt.schema)}}
        if effort:
            output["effort"] = effort
        body: dict[str, Any] = {
            "model": prompt.model,
            "max_tokens": prompt.max_tokens,
            "system": prompt.system,
            "messages": [{"role": "user", "content": prompt.text}],
            "output_config": output,
        }
        with (
            httpx2.Client(timeout=prompt.seconds, **wire.options(httpx2, url)) as client,
            _without(
                HEADERS,
                lambda: anthropic.Anthropic(
                    api_key=key,
                    base_url=url,
                    timeout=prompt.seconds / (TRIES + 1),
                    max_retries=TRIES,
                    http_client=client,
                ),
            ) as api,
        ):
            try:
                return _answer(api.messages.create(**body))
            except anthropic.APIStatusError as error:
                raise ModelError(_status(error.status_code)) from None
            except anthropic.APIConnectionError as error:
                raise ModelError(f"no answer ({type(error.__cause__ or error).__name__})") from None
            except (anthropic.AnthropicError, wire.TooLargeError, ValueError) as error:
                raise ModelError(f"no usable answer ({type(error).__name__})") from None

    return send


def _without(name: str, make: Callable[[], T]) -> T:
    """Make something while a variable is not in the environment."""
    before = os.environ.pop(name, None)
    try:
        return make()
    finally:
        if before is not None:
            os.environ[name] = before


def _answer(message: Any) -> Answer:
    """The text of a message; the server may have sent anything in its place."""
    blocks = getattr(message, "content", None)
    texts = [getattr(block, "text", None) for block in blocks] if isinstance(blocks, list) else []
    usage = getattr(message, "usage", None)
    return Answer(
        text="".join(text for text in texts if isinstance(text, str)),
        input_tokens=_count(getattr(usage, "input_tokens", 0)),
        output_tokens=_count(getattr(usage, "output_tokens", 0)),
        complete=getattr(message, "stop_reason", None) in COMPLETE,
    )


def _count(value: Any) -> int:
    return value if type(value) is int else 0


def _status(code: int) -> str:
    """What a status of the API means for the person."""
    meaning = {
        401: "the API key is not accepted; `ijfw keys set anthropic`",
        403: "the API key may not use this model",
        404: "there is no such model",
        413: "the request was too large",
        429: "too many requests, or the plan's quota is used up",
        529: "the service is overloaded",
    }.get(code, "the service failed" if code >= 500 else "the request was refused")
    return f"HTTP {code}: {meaning}"
