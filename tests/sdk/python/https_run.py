"""One run and one stream of each Python SDK over an HTTPS site of the gateway:
Caddy's internal issuer, HTTP/2. GATEWAY_ORIGIN is https, GATEWAY_CA its root."""

import os
import ssl

import anthropic
import httpx
import openai
from openrouter import OpenRouter

import contract
from contract import KEY, MODEL, ORIGIN, case, echo, equal

TLS = ssl.create_default_context(cafile=os.environ["GATEWAY_CA"])
_versions = set()


def _keep(response):
    _versions.add(response.http_version)


HOOKS = {"response": [_keep]}


def ask(text):
    return [{"role": "user", "content": text}]


@case()
def openai_over_http2():
    _versions.clear()
    client = openai.OpenAI(
        base_url=ORIGIN + "/v1",
        api_key=KEY,
        max_retries=0,
        http_client=openai.DefaultHttpxClient(http2=True, verify=TLS, event_hooks=HOOKS),
    )
    assert MODEL in [m.id for m in client.models.list()]
    reply = client.responses.create(model=MODEL, input="over tls")
    equal((reply.output_text, reply.model), (echo("over tls"), MODEL), "reply")
    stream = client.chat.completions.create(model=MODEL, messages=ask("a b"), stream=True)
    equal("".join(c.choices[0].delta.content or "" for c in stream), echo("a b"), "stream")
    equal(_versions, {"HTTP/2"}, "versions")


@case()
def openrouter_over_http2():
    _versions.clear()
    http = httpx.Client(http2=True, verify=TLS, event_hooks=HOOKS, timeout=contract.TIMEOUT)
    client = OpenRouter(api_key=KEY, server_url=ORIGIN + "/api/v1", client=http)
    reply = client.chat.send(model=MODEL, messages=ask("over tls"))
    equal((reply.choices[0].message.content, reply.model), (echo("over tls"), MODEL), "reply")
    with client.chat.send(model=MODEL, messages=ask("a b"), stream=True) as events:
        text = "".join(c.choices[0].delta.content or "" for c in events if c.choices)
    equal(text, echo("a b"), "stream")
    equal(_versions, {"HTTP/2"}, "versions")


@case()
def anthropic_over_http2():
    for base in ORIGIN, ORIGIN + "/api":
        _versions.clear()
        client = anthropic.Anthropic(
            base_url=base,
            api_key=KEY,
            max_retries=0,
            http_client=anthropic.DefaultHttpxClient(http2=True, verify=TLS, event_hooks=HOOKS),
        )
        assert MODEL in [m.id for m in client.models.list()]
        request = {"model": MODEL, "max_tokens": 100, "messages": ask("over tls")}
        reply = client.messages.create(**request)
        equal((reply.content[0].text, reply.model), (echo("over tls"), MODEL), "reply")
        with client.messages.stream(**request) as stream:
            equal("".join(stream.text_stream), echo("over tls"), "stream")
        counted = client.messages.count_tokens(model=MODEL, messages=ask("over tls"))
        assert counted.input_tokens > 0, counted
        equal(_versions, {"HTTP/2"}, "versions")


@case()
def a_certificate_that_nobody_vouches_for_is_refused():
    try:
        httpx.get(ORIGIN + "/v1/models")
    except httpx.ConnectError:
        return
    raise AssertionError("connected without the root certificate")


if __name__ == "__main__":
    contract.main()
