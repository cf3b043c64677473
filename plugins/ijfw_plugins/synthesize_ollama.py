"""Memories worded by a model on this computer, through Ollama: `IJFW_AUTOMEM_MODEL=ollama:NAME`.

Only the transport is here. Prompt, reading of the answer, consent and budgets are shared. The host
comes from the user's own config.toml and from nowhere else: OLLAMA_HOST does not count.
"""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ijfw_core import synthesis
from ijfw_core.synthesis import ModelError, wire
from ijfw_hookspecs import Answer, Candidate, Context, Prompt, Request, hookimpl

MODELS = "ollama:"
URL = "http://127.0.0.1:11434"
EXTRA = "pip install 'ijfw[ollama]'"
TRIES = 2  # further ones to connect, with backoff


class Config(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """[plugins.synthesize-ollama] of the user's config.toml."""

    host: str = URL  # this computer, or another one by https
    context: int = 8192  # tokens of the window; what is asked needs about 6,000


@hookimpl
def synthesize(request: Request, context: Context) -> Sequence[Candidate] | None:
    """Answer for models whose name starts with "ollama:"."""
    if not request.model.startswith(MODELS) or context.models is None:
        return None
    config = context.settings or Config()
    try:
        host = wire.host_of(config.host)
    except ValueError as error:
        context.models.failed(f"[plugins.synthesize-ollama] host: {error}")
        return None
    send = transport(config.host, config.context)
    return synthesis.answer(request, context, host=host, send=send, needs="ollama", extra=EXTRA)


def transport(url: str, window: int) -> Callable[[Prompt], Answer]:
    """What sends a prompt to the Ollama server at `url`."""

    def send(prompt: Prompt) -> Answer:
        import httpx
        import ollama

        options = wire.options(httpx, url, tries=TRIES)
        headers = {
            **options.pop("headers"),
            "Authorization": "none",
        }  # or the client takes OLLAMA_API_KEY
        with ollama.Client(host=url, timeout=prompt.seconds, headers=headers, **options) as api:
            try:
                reply = api.chat(
                    model=prompt.model.removeprefix(MODELS),
                    messages=[
                        {"role": "system", "content": prompt.system},
                        {"role": "user", "content": prompt.text},
                    ],
                    format=dict(prompt.schema),
                    options={
                        "num_predict": prompt.max_tokens,
                        "num_ctx": window,
                        "temperature": 0,
                    },
                )
            except ollama.ResponseError as error:
                hint = "; `ollama pull` it first" if error.status_code == 404 else ""
                raise ModelError(f"HTTP {error.status_code}{hint}") from None
            except (ConnectionError, httpx.HTTPError) as error:
                name = type(error).__name__
                raise ModelError(f"no answer ({name}); is Ollama running there?") from None
            except (wire.TooLargeError, ValueError) as error:
                raise ModelError(f"no usable answer ({type(error).__name__})") from None
        return _answer(reply)

    return send


def _answer(reply: Any) -> Answer:
    return Answer(
        text=reply.message.content or "",
        input_tokens=reply.prompt_eval_count or 0,
        output_tokens=reply.eval_count or 0,
        complete=bool(reply.done) and reply.done_reason in (None, "stop"),
    )
