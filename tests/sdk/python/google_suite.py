"""google-genai (Python): Google's API. Against "direct", which is the fake provider
without a gateway, it proves the fake; against "gemini" it proves the gateway.

The SDK adds the version and /models/NAME:METHOD to the base URL.
"""

import asyncio
import base64
import sys

from google import genai
from google.genai import errors, types

import contract
from contract import FAKE, FAKE_KEY, KEY, ORIGIN, PNG, TARGET, case, echo, equal, find

DIRECT = TARGET == "direct"
VERSIONS = ["v1beta"] if DIRECT else [None, "v1", "v1beta", "v1alpha"]
WEATHER = types.FunctionDeclaration(
    name="get_weather",
    description="The weather of a city",
    parameters_json_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
TOOLS = [types.Tool(function_declarations=[WEATHER])]


def name(model):
    return f"gemini-{model}" if DIRECT else f"{TARGET}/gemini-{model}"


def client(version="v1beta", key=None):
    host, own = (FAKE + "/gemini", FAKE_KEY) if DIRECT else (ORIGIN, KEY)
    options = types.HttpOptions(base_url=host, api_version=version, timeout=contract.TIMEOUT * 1000)
    return genai.Client(api_key=key or own, http_options=options)


google = client()


def ask(contents, model="3-echo", **config):
    return google.models.generate_content(model=name(model), contents=contents, config=config or None)


def stream(contents, model="3-echo", **config):
    return list(google.models.generate_content_stream(model=name(model), contents=contents, config=config or None))


def text(chunks):
    return "".join(c.text or "" for c in chunks)


def fails(fn, code, status):
    """Calls fn, which has to raise an error of the API."""
    try:
        got = fn()
    except errors.APIError as e:
        equal((e.code, e.status), (code, status), "the error")
        return e
    raise AssertionError(f"no error, but {got!r}")


@case(only="gemini")
def the_example_of_the_manual():
    printed = contract.example("docs/gemini.md", "genai.Client", {"genai": genai, "types": types}, [("gemini/gemini-3-flash", name("3-echo"))])
    equal(printed, echo("hello") + "\n", "printed")


@case()
def an_answer_is_given_under_each_version():
    for version in VERSIONS:
        own = client(version)
        reply = own.models.generate_content(model=name("3-echo"), contents="hello from python")
        equal(reply.text, echo("hello from python"), "text")
        equal(reply.candidates[0].finish_reason, types.FinishReason.STOP, "finish reason")
        assert reply.usage_metadata.prompt_token_count > 0 and reply.usage_metadata.candidates_token_count == 5, reply
        if not DIRECT:
            equal(reply.model_version, name("3-echo"), "model")
            request = reply.sdk_http_response.headers["x-request-id"]
            row = find(request, name("3-echo"), status=200, stream=False)
            equal(row["completion_tokens"], 5, "completion tokens of the row")


@case()
def a_stream_adds_up_to_the_whole_answer():
    for model in ("3-echo", "3-reasoning"):
        chunks = stream("one two three", model=model)
        whole = ask("one two three", model=model)
        equal(text(chunks), whole.text, f"text of {model}")
        equal(chunks[-1].usage_metadata, whole.usage_metadata, f"usage of {model}")
        equal(chunks[-1].candidates[0].finish_reason, types.FinishReason.STOP, "finish reason")


@case()
def settings_reach_the_provider():
    reply = ask(
        "x", max_output_tokens=9, temperature=0.5, system_instruction="be brief", thinking_config={"include_thoughts": True},
        safety_settings=[{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}], response_mime_type="application/json",
    )
    equal(reply.text, echo("x"), "text")


@case()
def an_image_is_taken():
    png = types.Part.from_bytes(data=base64.b64decode(PNG.split(",")[1]), mime_type="image/png")
    equal(ask(["see this", png]).text, echo("see this"), "text")


@case()
def a_call_and_its_result_return():
    for streamed in (False, True):
        if streamed:
            chunks = stream("how is the weather?", model="3-tools", tools=TOOLS)
            content = next(c.candidates[0].content for c in chunks if c.function_calls)
        else:
            content = ask("how is the weather?", model="3-tools", tools=TOOLS).candidates[0].content
        call = next(p.function_call for p in content.parts if p.function_call)
        equal(call.name, "get_weather", "name of the call")
        result = types.Part.from_function_response(name=call.name, response={"output": "sunny"})
        result.function_response.id = call.id
        history = [types.UserContent("how is the weather?"), content, types.Content(role="user", parts=[result])]
        assert ask(history).text, "no answer to a result"  # 3-… refuses a call without its signature


@case()
def tokens_are_counted():
    assert google.models.count_tokens(model=name("3-echo"), contents="one two three").total_tokens > 0


@case()
def texts_are_embedded():
    for texts in ("abc", ["abc", "defg"]):
        reply = google.models.embed_content(model=name("embedding-001"), contents=texts)
        want = [3.0] if texts == "abc" else [3.0, 4.0]
        equal([e.values[0] for e in reply.embeddings], want, "embeddings")


@case(only="gemini")
def the_list_has_the_models_that_can_be_called():
    listed = [m.name for m in google.models.list(config={"page_size": 3})]
    assert "models/" + name("3-echo") in listed and len(listed) > 3, listed
    assert all(n.startswith("models/gemini/") for n in listed), listed
    found = google.models.get(model=name("3-echo"))
    equal(found.name, "models/" + name("3-echo"), "name")
    assert "generateContent" in found.supported_actions, found
    chat = google.chats.create(model=found.name)
    equal(chat.send_message("from the list").text, echo("from the list"), "text")


@case(only="gemini")
def refusals_are_errors_of_the_sdk():
    own = client(key="gh-nobody")
    fails(lambda: own.models.generate_content(model=name("3-echo"), contents="x"), 401, "UNAUTHENTICATED")
    fails(lambda: ask("x", model="3-nobody"), 404, "NOT_FOUND")
    other = lambda: google.models.generate_content(model="fake/echo", contents="x")
    assert "/v1/chat/completions" in fails(other, 400, "INVALID_ARGUMENT").message
    search = [types.Tool(google_search=types.GoogleSearch())]
    fails(lambda: ask("x", tools=search), 403, "PERMISSION_DENIED")
    fails(lambda: google.files.get(name="files/a"), 404, "NOT_FOUND")
    fails(lambda: ask("x", model="3-err-500"), 502, "UNAVAILABLE")
    e = fails(lambda: ask("x", model="3-retry"), 429, "RESOURCE_EXHAUSTED")
    assert any(d.get("retryDelay") == "35s" for d in e.details["error"]["details"]), e.details


@case(only="gemini")
def a_broken_stream_is_an_error():
    for model in ("3-no-finish", "3-error-late"):  # the SDK alone takes the first for a whole answer
        fails(lambda: stream("x", model=model), 502, "UNAVAILABLE")


@case()
def a_blocked_prompt_says_so():
    for reply in (ask("x", model="3-blocked"), stream("x", model="3-blocked")[-1]):
        equal(reply.prompt_feedback.block_reason, types.BlockedReason.SAFETY, "reason")


@case()
def the_async_client_streams_too():
    async def run():
        reply = await google.aio.models.generate_content(model=name("3-echo"), contents="hello from async")
        equal(reply.text, echo("hello from async"), "text")
        chunks = [c async for c in await google.aio.models.generate_content_stream(model=name("3-echo"), contents="hello from async")]
        equal(text(chunks), echo("hello from async"), "streamed text")

    asyncio.run(run())


if __name__ == "__main__":
    print("# google-genai", genai.__version__, file=sys.stderr)
    contract.main()
