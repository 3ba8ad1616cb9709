"""anthropic (Python): the Messages API. Against "direct", which is the fake provider
without a gateway, it proves the fake; against the others it proves the gateway.

The SDK adds /v1/messages to the base URL, so the bases are an origin and an origin
with /api.
"""

import asyncio
import sys

import anthropic
import httpx
import openai
from pydantic import BaseModel

import contract
from anthropic import Anthropic, AsyncAnthropic
from contract import CLOUDS, FAKE, FAKE_KEY, KEY, ORIGIN, PNG, TARGET, case, echo, equal, find, raises, upstream

DIRECT = TARGET == "direct"
NATIVE = TARGET in ("direct", "anthropic")  # what it says is Anthropic's, not translated
HOST, SECRET = (FAKE, FAKE_KEY) if DIRECT else (ORIGIN, KEY)
BASES = [HOST, HOST + "/api"]
VERSION = "2023-06-01" if anthropic.__version__.startswith("1.") else "2026-10-21"


def native(fn):
    """Registers a case for what only Anthropic's API has."""
    return case()(fn) if NATIVE else fn


def newest_and_native(fn):
    """Registers a case for one run only: a target that failed often is not asked again."""
    return case(only="anthropic")(fn) if VERSION > "2023-06-01" else fn


def name(model):
    return model if DIRECT else f"{TARGET}/{model}"


def client(kind=Anthropic, base=HOST, key=SECRET, retries=0):
    return kind(base_url=base, api_key=key, max_retries=retries, timeout=contract.TIMEOUT)


anthropics = client()


def user(content):
    return {"role": "user", "content": content}


def request(content="hello", model="echo", **kwargs):
    return {"model": name(model), "max_tokens": 3000, "messages": [user(content)]} | kwargs


def create(*args, **kwargs):
    return anthropics.messages.create(**request(*args, **kwargs))


def text(message):
    return "".join(b.text for b in message.content if b.type == "text")


WEATHER = {
    "name": "get_weather",
    "description": "The weather of a city",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
CLOCK = {
    "name": "get_time",
    "input_schema": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
}
TOOLS = [WEATHER, CLOCK]


@newest_and_native
def the_examples_of_the_manual():
    names = {"Anthropic": Anthropic, "OpenAI": openai.OpenAI}
    equal(contract.example("README.md", "responses.create", names), 2 * (echo("hello") + "\n"), "printed")
    contract.example("docs/messages.md", "messages.create", names, [("anthropic/claude-sonnet-5", name("echo"))])


@case()
def a_message_is_answered_under_both_bases():
    for base in BASES:
        reply = client(base=base).messages.create(**request("hello from python"))
        equal(text(reply), echo("hello from python"), "text")
        equal((reply.type, reply.role, reply.stop_reason, reply.stop_sequence), ("message", "assistant", "end_turn", None))
        equal(reply.model, name("echo"), "model")
        assert reply.id.startswith("msg_"), reply.id
        assert reply._request_id.startswith("req_"), reply._request_id
        assert reply.usage.input_tokens > 0 and reply.usage.output_tokens == 5, reply.usage
        if not DIRECT:
            row = find(reply._request_id, name("echo"), status=200, stream=False)
            equal(row["completion_tokens"], 5, "completion tokens of the row")


@native
def the_version_reaches_the_provider():
    create("which version is this")
    sent = {k.lower(): v for k, v in upstream("which version is this")[-1]["headers"]}
    equal(sent["anthropic-version"], VERSION, "version")


@case()
def events_come_in_order():
    seen = list(create("a b c d", stream=True))
    kinds = [e.type for e in seen if e.type != "ping"]
    equal(kinds[:2], ["message_start", "content_block_start"], "first events")
    equal(kinds[-3:], ["content_block_stop", "message_delta", "message_stop"], "last events")
    equal(set(kinds[2:-3]), {"content_block_delta"}, "events between")
    said = "".join(e.delta.text for e in seen if e.type == "content_block_delta")
    equal(said, echo("a b c d"), "text")
    assert seen[0].message.usage.input_tokens > 0, seen[0]
    equal(seen[-2].usage.output_tokens, 6, "output tokens")


@case()
def the_accumulated_message_is_the_whole_one():
    asked = [{}, {"model": "tools", "tools": TOOLS}, {"model": "length"}, {"model": "reasoning"}]
    for kwargs in asked if DIRECT or TARGET in CLOUDS else [*asked, {"model": "no-stream"}]:
        whole = create("one two three", **kwargs)
        with anthropics.messages.stream(**request("one two three", **kwargs)) as stream:
            list(stream.text_stream)
            final = stream.get_final_message()
        got, want = plain(final), plain(whole)
        equal(got, want, f"message of {kwargs.get('model', 'echo')}")


def plain(message):
    """A message without what differs from call to call."""
    fields = message.model_dump(exclude={"id": True, "usage": {"cache_creation", "service_tier", "inference_geo"}})
    fields = {k: v for k, v in fields.items() if v is not None}
    for b in fields["content"]:
        b.pop("id", None)
        b.pop("signature", None)
        b.pop("parsed_output", None)
    return fields


@case()
def two_results_answer_two_calls():
    shared = {"model": "tools", "tools": TOOLS}
    messages = [user("what is the weather, and how late is it?")]
    with anthropics.messages.stream(**request(**shared, messages=messages)) as stream:
        streamed = stream.get_final_message()
    for first in (create(**shared, messages=messages), streamed):
        equal(first.stop_reason, "tool_use", "stop reason")
        calls = [b for b in first.content if b.type == "tool_use"]
        equal([(c.name, c.input) for c in calls], [("get_weather", {"city": "Oslo"}), ("get_time", {"zone": "UTC"})], "calls")
        results = [{"type": "tool_result", "tool_use_id": c.id, "content": f"result of {c.name}"} for c in calls]
        results[1]["is_error"] = True
        then = [*messages, {"role": "assistant", "content": first.content}, user(results)]
        last = create(**shared, messages=then)
        equal((text(last), last.stop_reason), (echo(messages[0]["content"]), "end_turn"), "answer")


@native
def thinking_is_replayed_with_its_signature():
    shared = {"model": "tools", "tools": TOOLS, "thinking": {"type": "enabled", "budget_tokens": 2000}}
    with anthropics.messages.stream(**request(**shared)) as stream:
        streamed = stream.get_final_message()
    for first in (create(**shared), streamed):
        equal([b.type for b in first.content], ["thinking", "tool_use", "tool_use"], "blocks")
        assert first.content[0].thinking and first.content[0].signature, first.content[0]
        results = [{"type": "tool_result", "tool_use_id": b.id, "content": "rain"} for b in first.content[1:]]
        turns = [user("hello"), {"role": "assistant", "content": first.content}, user(results)]
        equal(create(**shared, messages=turns).stop_reason, "end_turn", "stop reason")
        changed = [b.model_dump(exclude_none=True) for b in first.content]
        changed[0]["thinking"] += " or so"
        turns[1] = {"role": "assistant", "content": changed}
        e = raises(anthropic.BadRequestError, lambda: create(**shared, messages=turns), 400)
        assert "Invalid `signature`" in str(e), e


@native
def a_message_ends_for_its_reason():
    equal(create(model="length").stop_reason, "max_tokens", "stop reason")
    reply = create(model="stop-sequence", stop_sequences=["END"])
    equal((reply.stop_reason, reply.stop_sequence), ("stop_sequence", "END"), "stop reason")
    equal(create(model="refusal").stop_reason, "refusal", "stop reason")
    equal(create(model="pause-turn").stop_reason, "pause_turn", "stop reason")


@case()
def a_system_text_and_an_image_are_taken():
    media, data = PNG.removeprefix("data:").split(";base64,")
    image = {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    reply = create([{"type": "text", "text": "look"}, image], system=[{"type": "text", "text": "be brief"}])
    equal(text(reply), echo("look"), "text")


class Person(BaseModel):
    name: str
    age: int


@case()
def json_schema_output_parses():
    reply = anthropics.messages.parse(**request("who?", output_format=Person))
    assert isinstance(reply.parsed_output, Person), reply


@case(only="chatonly responsesonly")
def the_provider_is_asked_in_its_own_api():
    text = f"which api has {TARGET}"
    create(text)
    list(create(text, stream=True))
    contract.asked_in_its_own_api(text)


@case(only="chatonly responsesonly")
def what_the_other_apis_do_not_have_is_refused():
    fields = {"top_k": 5, "inference_geo": "eu"}
    if VERSION > "2023-06-01":
        fields["temperature"] = 0.5
    else:
        create("warm", extra_body={"temperature": 0.5})
    for field, value in fields.items():
        for streamed in False, True:
            e = refused(lambda: create("mark-4d7", stream=streamed, extra_body={field: value}), 400)
            equal(e.body["error"]["details"]["param"], field, "param")
    equal(upstream("mark-4d7"), [], "requests")


@newest_and_native
def the_next_model_answers_for_one_that_fails():
    """It stands in an alias, or in the field fallbacks."""
    answered = "chatonly/echo"
    alias = request("over and on") | {"model": "anthropic-failover"}
    fallbacks = request("over and on", "err-500-anthropic", extra_body={"fallbacks": [{"model": answered}]})
    for wanted in alias, fallbacks:
        reply = anthropics.messages.create(**wanted)
        equal((text(reply), reply.model, reply.stop_reason), (echo("over and on"), answered, "end_turn"), "whole")
        with anthropics.messages.stream(**wanted) as stream:
            final = stream.get_final_message()
        equal((text(final), final.model), (echo("over and on"), answered), "streamed")
    contract.failed_over("anthropic")


@case()
def tokens_are_counted():
    counted = anthropics.messages.count_tokens(model=name("echo"), messages=[user("one two three")], tools=[WEATHER])
    assert counted.input_tokens >= 3, counted


@case()
def models_come_in_pages():
    listed = anthropics.models.list(limit=2)
    equal(len(listed.data), 2, "models of the first page")
    ids = [m.id for m in listed]
    assert name("echo") in ids and len(set(ids)) == len(ids) and len(ids) > 2, ids
    assert all(m.type == "model" and m.display_name for m in listed.data), listed.data


# The model to ask of the fake for a status, and the error of the SDK.
ERRORS = {
    400: anthropic.BadRequestError,
    401: anthropic.AuthenticationError,
    403: anthropic.PermissionDeniedError,
    404: anthropic.NotFoundError,
    413: anthropic.APIStatusError,
    429: anthropic.RateLimitError,
    500: anthropic.InternalServerError,
    529: anthropic.APIStatusError,
}
TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    502: "api_error",
    529: "overloaded_error",
}


def refused(fn, status, hidden=True):
    """Calls fn, which has to fail with the error of the status, and returns it."""
    try:
        got = fn()
    except anthropic.APIStatusError as e:
        equal(e.status_code, status, "status")
        assert isinstance(e, ERRORS.get(status, anthropic.APIStatusError)), type(e)
        equal(e.body["type"], "error", "type of the body")
        equal(e.body["error"]["type"], TYPES[status], "type of the error")
        assert e.body["error"]["message"], e.body
        assert e.request_id and e.request_id == e.body["request_id"], (e.request_id, e.body)
        if hidden:
            for canary in contract.CANARIES:
                assert canary not in str(e.body), e.body
        return e
    raise AssertionError(f"no error, but {got!r}")


@case(only="direct")
def every_status_of_the_provider_has_its_error():
    for status in ERRORS:
        refused(lambda status=status: create(model=f"err-{status}"), status, hidden=False)
        refused(lambda status=status: create(model=f"err-{status}", stream=True), status, hidden=False)


@case()
def refusals_have_their_error():
    if DIRECT:
        refused(lambda: create(model="unheard-of"), 404)
        refused(lambda: create(messages=[]), 400)
        return
    refused(lambda: client(key="wrong-key-of-nobody").messages.create(**request()), 401)
    refused(lambda: client(key=contract.ACTIVITY_KEY).messages.create(**request()), 403)
    refused(lambda: create(model="unheard-of"), 404)
    refused(lambda: anthropics.messages.create(**(request() | {"model": contract.UNCALLABLE})), 404)
    refused(lambda: create(max_tokens=-1), 400)
    e = refused(lambda: create(model="err-401"), 502)
    equal(e.response.headers["x-should-retry"], "false", "x-should-retry")


@case()
def a_long_prompt_has_the_words_that_clients_look_for():
    e = refused(lambda: create(model="too-long"), 400, hidden=not DIRECT)
    assert "prompt is too long" in e.body["error"]["message"], e.body


@case()
def the_client_tries_again_after_429():
    failures = 2 if DIRECT else 1  # the gateway may take some of the attempts itself
    httpx.post(FAKE + "/_control/reset", timeout=contract.TIMEOUT).raise_for_status()
    patient = Anthropic(base_url=HOST, api_key=SECRET, timeout=contract.TIMEOUT)  # with its own idea of retries
    reply = patient.messages.create(**request("once more", model=f"first-{failures}-after-0-err-429"))
    equal(text(reply), echo("once more"), "text")
    equal(len(upstream("once more")), failures + 1, "requests")


@case()
def an_overloaded_stream_is_an_error():
    try:
        seen = list(create(model="overloaded", stream=True))
    except anthropic.APIStatusError as e:
        assert e.body["error"]["type"] in ("overloaded_error", "api_error"), e.body
    else:
        raise AssertionError(f"no error, but {seen}")


@case()
def the_async_client_streams_too():
    async def run():
        async with client(AsyncAnthropic) as asynchronous:
            reply = await asynchronous.messages.create(**request("hello from async"))
            equal(text(reply), echo("hello from async"), "text")
            async with asynchronous.messages.stream(**request("hello from async")) as stream:
                equal("".join([t async for t in stream.text_stream]), echo("hello from async"), "streamed text")

    asyncio.run(run())


if __name__ == "__main__":
    print("# anthropic", anthropic.__version__, file=sys.stderr)
    contract.main()
