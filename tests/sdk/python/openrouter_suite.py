"""openrouter (Python): chat completions at /api/v1, sync and async, with the
calls for models, activity, generations and the key."""

import asyncio
import json

import httpx
from openrouter import OpenRouter, errors
from openrouter.utils import BackoffStrategy, RetryConfig

import contract
from contract import (
    ACTIVITY_KEY,
    EMBED_MODEL,
    KEY,
    MODEL,
    ORIGIN,
    TARGET,
    UNCALLABLE,
    case,
    echo,
    equal,
    find,
    pick,
    raises,
)

NO_RETRY = RetryConfig("none", BackoffStrategy(1, 1, 1.0, 1), False)
_last = {}


def _keep(response):
    _last["headers"] = response.headers


async def _keep_async(response):
    _keep(response)


def last(header):
    """A header of the last answer; the SDK itself does not show them."""
    return _last["headers"][header]


def client(key=KEY):
    return OpenRouter(
        api_key=key,
        server_url=ORIGIN + "/api/v1",
        retry_config=NO_RETRY,
        timeout_ms=contract.TIMEOUT * 1000,
        client=httpx.Client(event_hooks={"response": [_keep]}),
        async_client=httpx.AsyncClient(event_hooks={"response": [_keep_async]}),
    )


gateway = client()
reader = client(ACTIVITY_KEY)


def ask(text):
    return [{"role": "user", "content": text}]


def chat(text="hello", **kwargs):
    return gateway.chat.send(**{"model": MODEL, "messages": ask(text)} | kwargs)


def stream(text, **kwargs):
    with chat(text, stream=True, **kwargs) as events:
        return list(events)


@case()
def embeddings():
    def embed(**kwargs):
        return gateway.embeddings.generate(**{"model": EMBED_MODEL, "input": ["a b", "c"]} | kwargs)

    reply = embed(dimensions=8, input_type="search_query")
    request_id = last("x-request-id")
    equal([len(d.embedding) for d in reply.data], [8, 8], "lengths")
    equal((reply.model, reply.usage.prompt_tokens), (EMBED_MODEL, 3), "model and usage")
    find(request_id, EMBED_MODEL, status=200, prompt_tokens=3, completion_tokens=0)
    assert isinstance(embed(encoding_format="base64").data[0].embedding, str)
    raises(errors.BadRequestResponseError, lambda: embed(dimensions=0), 400)
    raises(errors.NotFoundResponseError, lambda: embed(model=UNCALLABLE), 404)


@case()
def models_that_embed_are_listed_apart():
    equal([m.id for m in gateway.embeddings.list_models().result.data], ["test/embed"], "models")
    assert "test/embed" not in [m.id for m in gateway.models.list().result.data]


@case()
def the_procedure():
    model = pick(m.id for m in gateway.models.list().result.data)
    reply = gateway.chat.send(model=model, messages=ask("hello from openrouter"), stream=False)
    print("#", reply.model, "says", reply.choices[0].message.content)
    equal(reply.choices[0].message.content, echo("hello from openrouter"), "text")
    equal(reply.choices[0].finish_reason, "stop", "finish reason")
    equal(reply.model, model, "model")
    request_id, generation = last("x-request-id"), last("x-generation-id")

    rows = reader.analytics.get_user_activity().data
    assert any(r.model == model and r.requests == 1 for r in rows), rows
    row = find(request_id, model, status=200, prompt_tokens=reply.usage.prompt_tokens)
    found = reader.generations.get_generation(id=generation).data
    equal((found.id, found.model), (generation, model), "generation")
    equal(found.tokens_prompt, row["prompt_tokens"], "tokens of the generation")
    equal(found.streamed, False, "streamed")


@case()
def the_pages_of_the_list_end():
    whole = gateway.models.list().result.data
    page, seen = gateway.models.list(limit=1), []
    while page is not None and len(seen) <= len(whole):
        equal(page.result.total_count, len(whole), "total_count")
        seen += page.result.data
        page = page.next()
    equal([m.id for m in seen], [m.id for m in whole], "ids over pages")
    page, pages = gateway.models.list(), 0
    while page is not None and pages < 10:
        page, pages = page.next(), pages + 1
    assert pages < 10, "without a limit the list never ends"
    beyond = contract.get("/api/v1/models", KEY, offset=len(whole), limit=5).json()
    equal(beyond["data"], [], "data beyond the end")


@case()
def one_model_and_the_key():
    author, slug = MODEL.split("/", 1)
    equal(gateway.models.get(author=author, slug=slug).data.id, MODEL, "id")
    found = gateway.endpoints.list(author=author, slug=slug).data
    equal([(e.model_id, e.provider_name) for e in found.endpoints], [(MODEL, author)], "endpoints")
    raises(errors.NotFoundResponseError, lambda: gateway.endpoints.list(author=author, slug="none"), 404)
    equal(gateway.models.count().data.count, gateway.models.list().result.total_count, "count")
    data = gateway.api_keys.get_current_key_metadata().data
    assert data.label and KEY not in data.label, data.label
    equal(data.is_management_key, False, "is_management_key")


@case()
def responses():
    reply = gateway.responses.send(model=MODEL, input="a b")
    equal((reply.output[-1].content[0].text, reply.model, reply.status), (echo("a b"), MODEL, "completed"), "whole")
    with gateway.responses.send(model=MODEL, input="a b", stream=True) as events:
        seen = list(events)
    types = [e.type for e in seen]
    equal((types[0], types[-1]), ("response.created", "response.completed"), "events")
    equal({e.response.model for e in (seen[0], seen[-1])}, {MODEL}, "models")
    equal("".join(e.delta for e in seen if e.type == "response.output_text.delta"), echo("a b"), "text")
    equal(gateway.responses.send(models=[MODEL], input="a b").model, MODEL, "the first of models")


@case()
def the_first_of_models_is_the_model():
    reply = gateway.chat.send(models=[MODEL], messages=ask("hello"))
    equal((reply.model, reply.choices[0].message.content), (MODEL, echo("hello")), "reply")


@case()
def chat_streams():
    seen = stream("a b c d")
    request_id = last("x-request-id")
    text = "".join(c.choices[0].delta.content or "" for c in seen if c.choices)
    equal(text, echo("a b c d"), "text")
    equal({c.model for c in seen}, {MODEL}, "models")
    finishes = {c.choices[0].finish_reason for c in seen if c.choices} - {None}
    equal(finishes, {"stop"}, "finish reasons")
    equal([i for i, c in enumerate(seen) if c.usage], [len(seen) - 1], "chunks with usage")
    row = find(request_id, MODEL, status=200, stream=True)
    equal(row["completion_tokens"], seen[-1].usage.completion_tokens, "tokens")


@case()
def chat_streams_end_in_done_on_the_wire():
    body = {"model": MODEL, "messages": ask("on the wire"), "stream": True}
    for chunk in contract.chunks("/api/v1/chat/completions", body):
        for name in "usage", "system_fingerprint", "error":
            assert name not in chunk or chunk[name] is not None, f"{name} is null"
        for choice in chunk["choices"]:
            assert "finish_reason" in choice, choice


@case()
def async_calls():
    async def both():
        one = await gateway.chat.send_async(model=MODEL, messages=ask("async"))
        events = await gateway.chat.send_async(model=MODEL, messages=ask("async b"), stream=True)
        async with events:
            return one, [c async for c in events]

    one, seen = asyncio.run(both())
    equal((one.choices[0].message.content, one.model), (echo("async"), MODEL), "whole")
    text = "".join(c.choices[0].delta.content or "" for c in seen if c.choices)
    equal(text, echo("async b"), "streamed")


@case()
def tools_go_round():
    messages = ask("what is the weather?")
    kwargs = {"model": contract.TOOLS_MODEL, "tools": [contract.WEATHER]}
    first = gateway.chat.send(messages=messages, **kwargs).choices[0]
    equal(first.finish_reason, "tool_calls", "finish reason")
    calls = first.message.tool_calls
    equal({c.function.name for c in calls}, {"get_weather"}, "functions")
    assert "city" in json.loads(calls[0].function.arguments)
    turn = {"role": "assistant", "content": None}
    turn["tool_calls"] = [c.model_dump(by_alias=True) for c in calls]
    messages.append(turn)
    messages += [{"role": "tool", "tool_call_id": c.id, "content": "sunny"} for c in calls]
    second = gateway.chat.send(messages=messages, **kwargs).choices[0]
    equal(second.finish_reason, "stop", "finish reason")
    assert second.message.content

    with gateway.chat.send(messages=ask("streamed?"), stream=True, **kwargs) as events:
        deltas = [c.choices[0].delta for c in events if c.choices]
    fragments = [f for d in deltas for f in d.tool_calls or [] if f.index == 0]
    text = "".join(f.function.arguments or "" for f in fragments if f.function)
    assert "city" in json.loads(text), text


@case()
def json_schema_output():
    reply = chat(
        "who?",
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "person", "strict": True, "schema": contract.PERSON},
        },
    )
    person = json.loads(reply.choices[0].message.content)
    equal(set(person), {"name", "age"}, "properties")


@case()
def images_are_accepted():
    content = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": contract.PNG}},
    ]
    reply = chat(messages=[{"role": "user", "content": content}])
    assert reply.choices[0].message.content.startswith(echo("look")), reply


@case()
def a_wrong_key_is_401():
    wrong = client("gh-" + "x" * 43)
    e = raises(
        errors.UnauthorizedResponseError,
        lambda: wrong.chat.send(model=MODEL, messages=ask("x")),
        401,
    )
    equal(e.data.error.code, 401, "code")
    assert "x" * 43 not in e.body, "the offered key is repeated"


@case()
def a_key_without_the_scope_is_403():
    e = raises(
        errors.ForbiddenResponseError,
        lambda: reader.chat.send(model=MODEL, messages=ask("x")),
        403,
    )
    equal(e.data.error.code, 403, "code")
    equal(e.data.error.metadata["error_type"], "permission_denied", "error_type")
    assert "chat:write" in e.data.error.message, e.data.error.message
    raises(errors.ForbiddenResponseError, gateway.analytics.get_user_activity, 403)


@case()
def models_that_cannot_be_called_are_404():
    for model in f"{TARGET}/no-such-model", "no-such-provider/echo", UNCALLABLE:
        for streamed in False, True:
            e = raises(
                errors.NotFoundResponseError, lambda: chat(model=model, stream=streamed), 404
            )
            equal(e.data.error.code, 404, "code")


@case()
def a_missing_model_is_400():
    e = raises(
        errors.BadRequestResponseError, lambda: gateway.chat.send(messages=ask("x")), 400
    )
    equal(e.data.error.metadata["error_type"], "invalid_request", "error_type")


@case()
def unknown_generations_and_bad_dates():
    raises(
        errors.NotFoundResponseError, lambda: reader.generations.get_generation(id="gen-none"), 404
    )
    raises(
        errors.BadRequestResponseError,
        lambda: reader.analytics.get_user_activity(request={"date_": "yesterday"}),
        400,
    )


@case(only="chatonly responsesonly anthropic")
def the_provider_is_asked_in_its_own_api():
    text = f"which api has {TARGET}"
    chat(text)
    stream(text)
    contract.asked_in_its_own_api(text)


@case(only="anthropic")
def what_anthropic_ignores_is_left_out_and_named():
    for field, value in {"seed": 7, "logprobs": True, "frequency_penalty": 0.5}.items():
        chat("without it", **{field: value})
        equal(last("x-gatehouse-left-out"), field, "a whole answer")
        stream("without it", **{field: value})
        equal(last("x-gatehouse-left-out"), field, "a stream")


@case(only="fake")
def the_next_model_answers_for_one_that_fails():
    """It stands in an alias, or in the field models."""
    answered = "anthropic/echo"
    models = ["fake/err-500-openrouter", answered]
    for request in {"model": "openrouter-failover"}, {"model": models[0], "models": models}:
        reply = chat("over and on", **request)
        equal((reply.choices[0].message.content, reply.model), (echo("over and on"), answered), "whole")
        seen = stream("over and on", **request)
        text = "".join(c.choices[0].delta.content or "" for c in seen if c.choices)
        equal((text, {c.model for c in seen}), (echo("over and on"), {answered}), "streamed")
        assert seen[-1].usage, "no usage"
    contract.failed_over("openrouter")


@case(only="fake")
def the_providers_errors_are_classes():
    e = raises(errors.TooManyRequestsResponseError, lambda: chat(model="fake/err-429"), 429)
    equal(e.headers["retry-after"], "7", "retry-after")
    raises(errors.BadGatewayResponseError, lambda: chat(model="fake/err-500"), 502)
    raises(errors.BadGatewayResponseError, lambda: chat(model="fake/err-401"), 502)
    raises(errors.BadRequestResponseError, lambda: chat(model="fake/err-400"), 400)
    for model in "err-429", "err-500", "err-401", "err-400":
        try:
            chat(model="fake/" + model)
        except errors.OpenRouterError as e:
            for secret in contract.CANARIES:
                assert secret not in e.body, f"{model} shows a secret"


@case(only="fake")
def a_stream_that_breaks_ends_in_an_error_chunk():
    inside = 0
    for name in contract.BROKEN:
        try:
            seen = stream("a b c d", model="fake/" + name)
        except errors.BadGatewayResponseError:
            continue
        inside += 1
        assert seen[-1].error, f"{name} ends in {seen[-1]!r}"
        assert isinstance(seen[-1].error.code, int), name
        equal(seen[-1].choices[0].finish_reason, "error", f"finish reason of {name}")
    assert inside, "no error inside a stream"


@case(only="fake")
def odd_providers_are_repaired():
    """The SDK validates: what a sloppy provider leaves out has to be filled in."""
    for name in "null-fields", "sloppy", "float-created", "usage-each", "no-done", "finish-eos":
        reply = chat("a b c", model="fake/" + name)
        equal(reply.choices[0].message.content, echo("a b c"), f"text of {name}")
        seen = stream("a b c", model="fake/" + name)
        text = "".join(c.choices[0].delta.content or "" for c in seen if c.choices)
        equal(text, echo("a b c"), f"streamed text of {name}")


@case(only="fake")
def an_openrouter_provider_passes():
    reply = chat("hello", model="rt/echo")
    equal((reply.choices[0].message.content, reply.model), (echo("hello"), "rt/echo"), "reply")
    seen = stream("hello", model="rt/echo")
    equal({c.model for c in seen}, {"rt/echo"}, "models")
    assert seen[-1].usage, "no usage"


if __name__ == "__main__":
    contract.main()
