"""openai (Python), synchronous client: chat completions and responses at /v1."""

import json

import httpx2
import openai
from openai import OpenAI
from pydantic import BaseModel

import contract
from contract import (
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


def client(key=KEY):
    return OpenAI(
        base_url=ORIGIN + "/v1", api_key=key, max_retries=0, timeout=contract.TIMEOUT
    )


gateway = client()


def ask(text):
    return [{"role": "user", "content": text}]


def chat(text="hello", **kwargs):
    return gateway.chat.completions.create(**{"model": MODEL, "messages": ask(text)} | kwargs)


@case()
def the_procedure_with_chat():
    model = pick(m.id for m in gateway.models.list())
    reply = gateway.chat.completions.create(model=model, messages=ask("hello from chat"))
    print("#", reply.model, "says", reply.choices[0].message.content)
    equal(reply.choices[0].message.content, echo("hello from chat"), "text")
    equal(reply.choices[0].finish_reason, "stop", "finish reason")
    equal(reply.model, model, "model")
    find(
        reply._request_id,
        model,
        status=200,
        stream=False,
        prompt_tokens=reply.usage.prompt_tokens,
        completion_tokens=reply.usage.completion_tokens,
    )


@case()
def the_procedure_with_responses():
    model = pick(m.id for m in gateway.models.list())
    reply = gateway.responses.create(model=model, input="hello from responses")
    print("#", reply.model, "says", reply.output_text)
    equal(reply.output_text, echo("hello from responses"), "text")
    equal(reply.status, "completed", "status")
    equal(reply.model, model, "model")
    find(
        reply._request_id,
        model,
        status=200,
        stream=False,
        prompt_tokens=reply.usage.input_tokens,
        completion_tokens=reply.usage.output_tokens,
    )


@case()
def the_list_ends_and_each_model_can_be_retrieved():
    models = list(gateway.models.list())
    equal(len({m.id for m in models}), len(models), "distinct ids")
    for m in models:
        equal(m.object, "model", "object")
        assert isinstance(m.created, int) and m.owned_by
    equal(gateway.models.retrieve(MODEL).id, MODEL, "id")
    assert UNCALLABLE not in [m.id for m in models]


def vectors(**kwargs):
    reply = gateway.embeddings.create(**{"model": EMBED_MODEL, "input": ["a b", "c"]} | kwargs)
    equal(reply.model, EMBED_MODEL, "model")
    return reply, [d.embedding for d in reply.data]


@case()
def embeddings_come_as_floats_and_in_base64():
    reply, decoded = vectors()  # the client asks for base64, and decodes it
    _, floats = vectors(encoding_format="float")
    equal([len(v) for v in decoded], [64, 64], "lengths")
    for a, b in zip(sum(decoded, []), sum(floats, [])):
        assert abs(a - b) < 1e-6
    _, texts = vectors(encoding_format="base64")
    assert all(isinstance(text, str) for text in texts)
    find(reply._request_id, EMBED_MODEL, status=200, prompt_tokens=3, completion_tokens=0)
    equal((reply.usage.prompt_tokens, reply.usage.total_tokens), (3, 3), "usage")


@case()
def embeddings_take_texts_and_tokens():
    for given, want in (("a", 1), (["a", "b"], 2), ([1, 2, 3], 1), ([[1, 2], [3]], 2)):
        equal([len(v) for v in vectors(input=given, dimensions=8)[1]], [8] * want, "lengths")


@case(only="fake")
def a_text_is_continued():
    complete = gateway.completions.create
    reply = complete(model=MODEL, prompt="def f(", n=2, max_tokens=20)
    equal([c.text for c in reply.choices], [echo("def f(")] * 2, "texts")
    equal((reply.object, reply.model), ("text_completion", MODEL), "object and model")
    find(reply._request_id, MODEL, status=200, completion_tokens=reply.usage.completion_tokens)
    chunks = list(
        complete(model=MODEL, prompt="a b", stream=True, stream_options={"include_usage": True})
    )
    equal("".join(c.choices[0].text for c in chunks if c.choices), echo("a b"), "streamed text")
    assert chunks[-1].usage.completion_tokens and not any(c.usage for c in chunks[:-1])
    raises(openai.NotFoundError, lambda: complete(model=UNCALLABLE, prompt="x"), 404)


@case()
def embeddings_fail_as_classes():
    embed = gateway.embeddings.create
    raises(openai.NotFoundError, lambda: embed(model=UNCALLABLE, input="x"), 404)
    e = raises(openai.BadRequestError, lambda: embed(model=EMBED_MODEL, input="x", dimensions=0))
    equal(e.status_code, 400, "status")
    stream = {"stream": True}
    e = raises(
        openai.BadRequestError, lambda: embed(model=EMBED_MODEL, input="x", extra_body=stream)
    )
    equal(e.param, "stream", "param")


@case("fake")
def pictures_are_made():
    made = {"model": MODEL, "prompt": "a red fox"}
    reply = gateway.images.generate(**made, n=2, quality="low")
    equal([p.b64_json for p in reply.data], ["a red fox"] * 2, "pictures")
    equal(reply.usage.output_tokens, 544, "usage")
    find(reply._request_id, MODEL, status=200, completion_tokens=544, images=2)
    events = list(gateway.images.generate(**made, stream=True, partial_images=2))
    kind = "image_generation"
    equal([e.type for e in events], [f"{kind}.partial_image"] * 2 + [f"{kind}.completed"], "events")
    equal(events[-1].usage.output_tokens, 272, "usage of the stream")


@case("fake")
def pictures_are_edited():
    one, two, mask = (("a.png", b"\x89PNG\r\n\x00" + tail) for tail in (b"1", b"2", b"mask"))
    edit = {"model": MODEL, "prompt": "a red fox"}
    for more in ({"image": one}, {"image": [one, two], "n": 2}, {"image": one, "mask": mask}):
        reply = gateway.images.edit(**edit, **more)
        equal([p.b64_json for p in reply.data], ["a red fox"] * more.get("n", 1), "pictures")
        find(reply._request_id, MODEL, status=200, images=more.get("n", 1))
    events = list(gateway.images.edit(**edit, image=one, stream=True, partial_images=1))
    equal([e.type for e in events], ["image_edit.partial_image", "image_edit.completed"], "events")
    e = raises(openai.BadRequestError, lambda: gateway.images.edit(**edit, image=one, n=0))
    equal(e.param, "n", "param")


@case("fake")
def a_text_is_spoken():
    ask = {"model": MODEL, "voice": "alloy", "input": "ten and ten characte"}
    reply = gateway.audio.speech.create(**ask, response_format="pcm")
    equal(len(reply.read()), 96_000, "bytes")
    find(reply.response.headers["x-request-id"], MODEL, status=200, stream=False)
    with gateway.audio.speech.with_streaming_response.create(**ask) as streamed:
        equal(streamed.headers["content-type"], "audio/mpeg", "type")
        equal(sum(len(piece) for piece in streamed.iter_bytes()), 84 * 192, "bytes")
    with gateway.audio.speech.with_streaming_response.create(**ask, stream_format="sse") as streamed:
        events = [json.loads(line[6:]) for line in streamed.iter_lines() if line.startswith("data: ")]
    equal(events[-1]["type"], "speech.audio.done", "last event")
    broken = ask | {"model": "fake/cut-mid-stream"}
    try:
        gateway.audio.speech.create(**broken).read()
    except (openai.APIConnectionError, httpx2.TransportError):
        return
    raise AssertionError("a sound that broke off looks whole")


@case("fake")
def a_sound_is_written():
    def ask(call=gateway.audio.transcriptions.create, **kwargs):
        return call(**{"model": MODEL, "file": ("a.wav", b"RIFF" * 1000), "prompt": "ann"} | kwargs)

    equal(ask().text, "You said: ann", "text")
    equal(ask(response_format="verbose_json").segments[0].text, "You said: ann", "segment")
    for form in "text", "srt", "vtt":
        assert "You said: ann" in ask(response_format=form), form
    events = list(ask(stream=True))
    equal("".join(e.delta for e in events[:-1]), "You said: ann", "deltas")
    equal((events[-1].type, events[-1].usage.input_tokens), ("transcript.text.done", 14), "end")
    equal(ask(gateway.audio.translations.create).text, "You said: ann", "translation")
    raises(openai.NotFoundError, lambda: ask(model=UNCALLABLE), 404)


@case()
def the_helpers_take_a_provider_that_does_not_stream():
    model = MODEL if TARGET in ("test", *contract.CLOUDS) else f"{TARGET}/no-stream"
    with gateway.chat.completions.stream(model=model, messages=ask("a b")) as stream:
        stream.until_done()
        whole = stream.get_final_completion()
    equal(whole.choices[0].message.content, echo("a b"), "chat")
    equal(whole.choices[0].finish_reason, "stop", "finish reason")
    with gateway.responses.stream(model=model, input="a b") as stream:
        kinds = [event.type for event in stream]
        reply = stream.get_final_response()
    equal((kinds[0], kinds[-1]), ("response.created", "response.completed"), "events")
    equal(reply.output_text, echo("a b"), "response")


@case("test")
def models_that_embed_do_not_chat():
    assert EMBED_MODEL in [m.id for m in gateway.models.list()]
    e = raises(openai.NotFoundError, lambda: chat(model=EMBED_MODEL), 404)
    equal(e.code, "model_not_callable", "code")


@case()
def chat_streams():
    with gateway.chat.completions.with_streaming_response.create(
        model=MODEL, messages=ask("a b c d"), stream=True
    ) as raw:
        request_id = raw.headers["x-request-id"]
        seen = list(raw.parse())
    equal("".join(c.choices[0].delta.content or "" for c in seen), echo("a b c d"), "text")
    equal({c.model for c in seen}, {MODEL}, "models")
    equal(len({c.id for c in seen}), 1, "ids")
    equal(seen[0].choices[0].delta.role, "assistant", "first role")
    finishes = [c.choices[0].finish_reason for c in seen if c.choices[0].finish_reason]
    equal(finishes, ["stop"], "finish reasons")
    equal([c for c in seen if c.usage], [], "chunks with usage, which nobody asked for")
    row = find(request_id, MODEL, status=200, stream=True)
    assert row["prompt_tokens"] > 0 and row["completion_tokens"] > 0, row


@case()
def chat_streams_usage_when_asked():
    seen = list(chat("a b c", stream=True, stream_options={"include_usage": True}))
    equal([c.choices for c in seen if c.usage], [[]], "choices of the chunks with usage")
    usage = seen[-1].usage
    equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens, "total")


@case()
def the_stream_helper_accumulates():
    with gateway.chat.completions.stream(model=MODEL, messages=ask("helped along")) as stream:
        for _ in stream:
            pass
        final = stream.get_final_completion()
    equal(final.choices[0].message.content, echo("helped along"), "text")


@case()
def chat_streams_end_in_done_on_the_wire():
    body = {"model": MODEL, "messages": ask("on the wire"), "stream": True}
    for chunk in contract.chunks("/v1/chat/completions", body):
        assert chunk["choices"], chunk
        assert not chunk.get("usage"), chunk
        assert "error" not in chunk, chunk


@case()
def tools_go_round():
    for stream in False, True:
        messages = ask("what is the weather?")
        kwargs = {"model": contract.TOOLS_MODEL, "tools": [contract.WEATHER]}
        if stream:
            with gateway.chat.completions.stream(messages=messages, **kwargs) as events:
                first = events.get_final_completion()
        else:
            first = gateway.chat.completions.create(messages=messages, **kwargs)
        equal(first.choices[0].finish_reason, "tool_calls", "finish reason")
        calls = first.choices[0].message.tool_calls
        equal({c.function.name for c in calls}, {"get_weather"}, "functions")
        assert "city" in json.loads(calls[0].function.arguments)
        messages.append(first.choices[0].message)
        messages += [
            {"role": "tool", "tool_call_id": c.id, "content": "sunny"} for c in calls
        ]
        second = gateway.chat.completions.create(messages=messages, **kwargs)
        equal(second.choices[0].finish_reason, "stop", "finish reason")
        assert second.choices[0].message.content


class Person(BaseModel):
    name: str
    age: int


@case()
def json_schema_output_parses():
    reply = gateway.chat.completions.parse(
        model=MODEL, messages=ask("who?"), response_format=Person
    )
    assert isinstance(reply.choices[0].message.parsed, Person), reply


@case()
def images_are_accepted():
    reply = chat(
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "look"},
                    {"type": "image_url", "image_url": {"url": contract.PNG}},
                ],
            }
        ]
    )
    assert reply.choices[0].message.content.startswith(echo("look")), reply
    if TARGET == "fake":
        assert contract.upstream(contract.PNG), "the image did not arrive"


@case(only="fake")
def unknown_fields_survive():
    chat("mark-7f1", extra_body={"x_unknown": {"deep": ["mark-7f2"]}})
    body = json.loads(contract.upstream("mark-7f1")[-1]["body"])
    equal(body["x_unknown"], {"deep": ["mark-7f2"]}, "the unknown field")


@case()
def responses_stream():
    events = list(gateway.responses.create(model=MODEL, input="a b c d", stream=True))
    equal(events[0].type, "response.created", "first event")
    equal(events[-1].type, "response.completed", "last event")
    equal([e.sequence_number for e in events], list(range(len(events))), "sequence numbers")
    text = "".join(e.delta for e in events if e.type == "response.output_text.delta")
    equal(text, echo("a b c d"), "text")
    models = {e.response.model for e in events if hasattr(e, "response")}
    equal(models, {MODEL}, "models")
    equal(events[-1].response.output_text, text, "final text")
    assert events[-1].response.usage.output_tokens > 0


@case()
def responses_stream_with_the_helper():
    with gateway.responses.stream(model=MODEL, input="one two three") as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    equal(final.output_text, echo("one two three"), "text")
    equal(final.model, MODEL, "model")


def told(connection, text, **members):
    """Asks for a response over a WebSocket, and returns its events."""
    message = {"type": "message", "role": "user", "content": text}
    event = {"type": "response.create", "model": MODEL, "input": [message], "store": False}
    connection.send(event | members)
    events = []
    for event in connection:
        events.append(event)
        if event.type in ("response.completed", "response.failed", "response.incomplete", "error"):
            return events


@case()
def responses_over_a_websocket():
    with gateway.responses.connect() as connection:
        events = told(connection, "a b c")
        equal(events[0].type, "response.created", "first event")
        first = events[-1].response
        equal(first.output_text, echo("a b c"), "text")
        equal(first.model, MODEL, "model")
        row = contract.get("/api/v1/activity").json()["data"][0]
        equal((row["model"], row["status"], row["transport"]), (MODEL, 200, "websocket"), "row")
        # What was said before is known, though nobody stores it.
        second = told(connection, "d", previous_response_id=first.id)[-1].response
        equal(second.output_text, echo("d"), "text")
        if TARGET != "test":
            assert "a b c" in contract.upstream('"d"')[-1]["body"], "the conversation is not sent"
        # A refusal is an event, and the connection goes on.
        lost = told(connection, "e", previous_response_id=first.id)[-1]
        equal((lost.type, lost.status, lost.error.code), ("error", 400, "previous_response_not_found"), "refusal")
        equal(told(connection, "f")[-1].response.output_text, echo("f"), "text")
        # A warm-up is not sent, and its input belongs to the next response.
        warm = told(connection, "g", generate=False)[-1].response
        equal((warm.status, warm.output, warm.usage.total_tokens), ("completed", [], 0), "warm-up")
        last = told(connection, "h", previous_response_id=warm.id)[-1].response
        assert last.output_text.endswith("h"), last.output_text  # some join both messages


@case()
def a_websocket_of_a_wrong_key_is_401():
    try:
        client("gh-" + "x" * 43).responses.connect().enter()
    except Exception as e:
        equal(e.response.status_code, 401, "status")
        equal(json.loads(e.response.body)["error"]["code"], "invalid_api_key", "code")
        return
    raise AssertionError("it opens")


@case()
def a_wrong_key_is_401():
    e = raises(openai.AuthenticationError, client("gh-" + "x" * 43).models.list, 401)
    equal(e.code, "invalid_api_key", "code")
    assert "x" * 43 not in str(e), "the offered key is repeated"


@case()
def a_key_without_the_scope_is_403():
    reader = client(contract.ACTIVITY_KEY)
    for call in (
        reader.models.list,
        lambda: reader.chat.completions.create(model=MODEL, messages=ask("x")),
        lambda: reader.responses.create(model=MODEL, input="x"),
    ):
        e = raises(openai.PermissionDeniedError, call, 403)
        equal(e.code, "insufficient_scope", "code")


@case()
def models_that_cannot_be_called_are_404():
    for model in f"{TARGET}/no-such-model", "no-such-provider/echo", UNCALLABLE:
        for call in (
            lambda: chat(model=model),
            lambda: chat(model=model, stream=True),
            lambda: gateway.responses.create(model=model, input="x"),
            lambda: gateway.models.retrieve(model),
        ):
            e = raises(openai.NotFoundError, call, 404)
            assert e.code in ("model_not_found", "model_not_callable"), (model, e.code)
            assert e.request_id, "no request id"


@case()
def bad_requests_are_400():
    e = raises(openai.BadRequestError, lambda: chat(model=openai.omit), 400)
    equal((e.code, e.param), ("missing_required_parameter", "model"), "code and param")
    e = raises(openai.BadRequestError, lambda: chat(model=7), 400)
    equal((e.code, e.param), ("invalid_value", "model"), "code and param")
    e = raises(
        openai.BadRequestError,
        lambda: gateway.post("/chat/completions", content=b"{", cast_to=httpx2.Response),
        400,
    )
    equal(e.code, "invalid_json", "code")


@case()
def an_unknown_url_is_404():
    e = raises(openai.NotFoundError, lambda: gateway.post("/nowhere", cast_to=object), 404)
    equal(e.code, "unknown_url", "code")


@case(only="chatonly responsesonly anthropic")
def the_provider_is_asked_in_its_own_api():
    text = f"which api has {TARGET}"
    chat(text)
    chat(text, stream=True).close()
    gateway.responses.create(model=MODEL, input=text)
    contract.asked_in_its_own_api(text)


@case(only="anthropic")
def what_anthropic_does_not_have_is_refused():
    for field, value in {"n": 2, "modalities": ["text", "audio"]}.items():
        for streamed in False, True:
            e = raises(
                openai.BadRequestError,
                lambda: chat("mark-4d8", stream=streamed, **{field: value}),
                400,
            )
            equal((e.code, e.param), ("unsupported_parameter", field), "refusal")
    equal(contract.upstream("mark-4d8"), [], "requests")


@case(only="anthropic")
def what_anthropic_ignores_is_left_out_and_named():
    fields = {"seed": 7, "logprobs": True, "frequency_penalty": 0.5}
    for streamed in False, True:
        raw = gateway.chat.completions.with_raw_response.create(
            model=MODEL, messages=ask("without them"), stream=streamed, **fields
        )
        equal(set(raw.headers["x-gatehouse-left-out"].split(", ")), set(fields), "fields of a chat")
    raw = gateway.responses.with_raw_response.create(model=MODEL, input="without them", top_logprobs=2)
    assert "top_logprobs" in raw.headers["x-gatehouse-left-out"].split(", "), raw.headers
    reply = chat("as json", response_format={"type": "json_object"})
    equal(reply.choices[0].finish_reason, "stop", "an answer in JSON")


def stored_responses(sdk, model):
    """What the routes about a stored response show, but for ids."""
    texts = [{"role": role, "content": text} for role, text in (("user", "one"), ("assistant", "two"), ("user", "three"))]
    first = sdk.responses.create(model=model, input=texts)
    shown = sdk.responses.retrieve(first.id, include=["message.output_text.logprobs"])
    equal((shown.id, shown.output_text, shown.model), (first.id, first.output_text, model), "retrieved")
    items = [i.content[0].text for i in sdk.responses.input_items.list(first.id, limit=2, order="asc")]
    newest = sdk.responses.input_items.list(first.id, limit=1).data[0].content[0].text
    count = sdk.responses.input_tokens.count(model=model, input="one two three")
    compacted = sdk.responses.compact(model=model, previous_response_id=first.id, instructions="be short")
    again = sdk.responses.create(model=model, input=[i.model_dump(exclude_none=True, warnings=False) for i in compacted.output] + texts[:1])
    cancelled = sdk.responses.cancel(sdk.responses.create(model=model, input="in the background").id)
    refused = raises(openai.BadRequestError, lambda: sdk.responses.cancel(first.id), 400)
    sdk.responses.delete(first.id)
    for call in sdk.responses.retrieve, sdk.responses.input_items.list, sdk.responses.cancel, sdk.responses.delete:
        raises(openai.NotFoundError, lambda: call(first.id), 404)
    return (
        shown.output_text, items, newest, (count.object, count.input_tokens), cancelled.status, again.output_text,
        (compacted.object, [i.type for i in compacted.output], compacted.usage.output_tokens), "background=true" in refused.message,
    )


@case(only="fake")
def stored_responses_are_those_of_the_provider():
    direct = OpenAI(base_url=contract.FAKE + "/v1", api_key=contract.FAKE_KEY, max_retries=0, timeout=contract.TIMEOUT)
    want = stored_responses(direct, "echo")
    equal(want[1:3], (["one", "two", "three"], "three"), "items")
    equal(stored_responses(gateway, MODEL), want, "through the gateway")
    raises(openai.BadRequestError, lambda: list(gateway.responses.retrieve("resp_1", stream=True)), 400)


@case(only="fake")
def an_alias_goes_on_to_its_next_target():
    model, answered = "openai-failover", "anthropic/echo"
    reply = chat("over and on", model=model)
    equal((reply.choices[0].message.content, reply.model), (echo("over and on"), answered), "chat")
    find(reply._request_id, model, status=200, provider_name="anthropic", attempts=2)
    seen = list(chat("over and on", model=model, stream=True))
    text = "".join(c.choices[0].delta.content or "" for c in seen)
    equal((text, {c.model for c in seen}), (echo("over and on"), {answered}), "streamed chat")
    reply = gateway.responses.create(model=model, input="over and on")
    equal((reply.output_text, reply.model), (echo("over and on"), answered), "response")
    with gateway.responses.stream(model=model, input="over and on") as stream:
        final = stream.until_done().get_final_response()
    equal((final.output_text, final.model), (echo("over and on"), answered), "streamed response")
    contract.failed_over("openai")


@case(only="fake")
def the_providers_errors_are_classes():
    e = raises(openai.RateLimitError, lambda: chat(model="fake/err-429"), 429)
    equal(e.code, "upstream_rate_limited", "code")
    equal(e.response.headers["retry-after"], "7", "retry-after")
    e = raises(openai.InternalServerError, lambda: chat(model="fake/err-500"), 502)
    equal(e.code, "upstream_error", "code")
    e = raises(openai.InternalServerError, lambda: chat(model="fake/err-401"), 502)
    equal(e.code, "upstream_auth_error", "code")
    raises(openai.BadRequestError, lambda: chat(model="fake/err-400"), 400)
    for model in "err-429", "err-500", "err-401", "err-400":
        try:
            chat(model="fake/" + model)
        except openai.APIStatusError as e:
            for secret in contract.CANARIES:
                assert secret not in e.response.text, f"{model} shows a secret"


@case(only="fake")
def a_stream_that_breaks_never_looks_whole():
    kinds = set()
    for name in contract.BROKEN:
        try:
            got = list(chat("a b c d", model="fake/" + name, stream=True))
        except (openai.APIError, openai.InternalServerError) as e:
            assert e.code, f"{name}: {e!r} has no code"
            kinds.add(type(e))
        else:
            raise AssertionError(f"{name}: no error, but {got!r}")
        body = {"model": "fake/" + name, "messages": ask("a b c"), "stream": True}
        assert "[DONE]" not in contract.wire("/v1/chat/completions", body), name
    assert kinds <= {openai.APIError, openai.InternalServerError}, kinds
    assert openai.APIError in kinds, "no error inside a stream"


@case(only="fake")
def a_responses_stream_that_breaks_raises():
    for name in "cut-mid-stream", "cut-clean", "err-mid-stream", "response-failed":

        def run():
            with gateway.responses.stream(model="fake/" + name, input="a b c d") as stream:
                return stream.get_final_response()

        try:
            got = run()
        except (openai.APIError, RuntimeError):
            continue
        raise AssertionError(f"{name} gave {got!r}")


@case(only="fake")
def the_clients_key_never_reaches_the_provider():
    chat("mark-9c3")
    (request,) = contract.upstream("mark-9c3")
    text = json.dumps(request)
    assert KEY not in text, "the key is in the upstream request"
    names = {name.lower() for name, _ in request["headers"]}
    private = {"cookie", "x-forwarded-for", "via"}
    leaks = {n for n in names if n.startswith("x-stainless") or n in private}
    equal(leaks, set(), "headers that were passed on")
    assert ["Authorization", f"Bearer {contract.FAKE_KEY}"] in request["headers"], request


if __name__ == "__main__":
    contract.main()
