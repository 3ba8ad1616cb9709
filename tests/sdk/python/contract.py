"""What the Python suites share: where the gateway is, the look at its wire and
at its activity without any SDK, and a runner that reports in TAP.

The driver (tests/sdk/run) sets the environment. GATEWAY_TARGET is the provider
behind the gateway: "test" (built in), or one that tests/fakeprovider serves over
HTTP. "fake" has all APIs of OpenAI; "chatonly", "responsesonly" and "anthropic"
have one API each, "gemini" and "converse" the protocols of clouds.
"""

import contextlib
import io
import json
import os
import re
import sys
import traceback

import httpx

ORIGIN = os.environ["GATEWAY_ORIGIN"]
KEY = os.environ["GATEWAY_API_KEY"]  # chat:write models:read
ACTIVITY_KEY = os.environ["GATEWAY_ACTIVITY_KEY"]  # activity:read, same tenant
TARGET = os.environ["GATEWAY_TARGET"]
FAKE = os.environ["FAKE_ORIGIN"]
FAKE_KEY = os.environ["FAKE_API_KEY"]  # the gateway's credential at the fake provider
FAKE_SECRET = "sk-fake-"  # how the secrets in the fake's error texts begin
CANARIES = [KEY, FAKE_KEY, FAKE_SECRET]  # what no answer may show
MODEL = f"{TARGET}/echo"
TOOLS_MODEL = f"{TARGET}/" + ("echo" if TARGET == "test" else "tools")
EMBED_MODEL = MODEL if TARGET in ("fake", "chatonly") else "test/embed"
CLOUDS = ("gemini", "converse")  # of protocols in which a provider cannot answer a stream as a whole
UNCALLABLE = os.environ["GATEWAY_UNCALLABLE_MODEL"]  # in the catalog, not routable

TIMEOUT = 30  # seconds; a suite that hangs is a failure, not a wait

PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAA"
    "DUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def echo(prompt):
    """The whole reply of the model "echo" of either provider."""
    return f"You said: {prompt}"


def example(page, first, names, models=()):
    """Runs the block of a page of the documentation that has the text first, as a reader of it would at
    this gateway, and returns what it prints. models are pairs: a model of the page, and the one to call."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", page)
    with open(path, encoding="utf-8") as file:
        blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
    text = next(block for block in blocks if first in block)
    text = re.sub(r"https?://(127\.0\.0\.1:8080|ai\.example\.com)", ORIGIN, text)
    for documented, model in models:
        text = text.replace(documented, model)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(text, page, "exec"), {"os": os, **names})
    return printed.getvalue()


_cases = []


def case(only=None):
    """Registers a case; only names the targets that it makes sense for."""

    def register(fn):
        if only is None or TARGET in only.split():
            _cases.append(fn)
        return fn

    return register


def main():
    failed = 0
    for number, fn in enumerate(_cases, 1):
        name = fn.__name__.replace("_", " ")
        try:
            fn()
        except Exception:
            failed += 1
            print(f"not ok {number} - {name}")
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
        else:
            print(f"ok {number} - {name}")
        sys.stdout.flush()
    print(f"1..{len(_cases)}")
    sys.exit(1 if failed else 0)


def equal(got, want, what="value"):
    if got != want:
        raise AssertionError(f"{what} is {got!r}, want {want!r}")


def pick(ids):
    """Step 3 of the verification: selects the model from the list."""
    ids = list(ids)
    if MODEL not in ids:
        raise AssertionError(f"{MODEL} is not in the list {ids}")
    return ids[ids.index(MODEL)]


def raises(kind, fn, status=None):
    """Calls fn, which has to raise exactly kind, and returns the exception."""
    try:
        got = fn()
    except Exception as e:
        if type(e) is not kind:
            raise AssertionError(f"raised {type(e).__name__}: {e}; want {kind.__name__}") from e
        if status is not None:
            equal(e.status_code, status, "status")
        return e
    raise AssertionError(f"no error, but {got!r}")


def get(path, key=ACTIVITY_KEY, **params):
    return httpx.get(
        ORIGIN + path, params=params, headers={"Authorization": f"Bearer {key}"}, timeout=TIMEOUT
    )


def find(request_id, model, **fields):
    """Step 5 of the verification: key 2 finds the request of key 1."""
    answer = get("/api/v1/activity", request_id=request_id)
    equal(answer.status_code, 200, "status of the activity")
    rows = answer.json()["data"]
    equal(len(rows), 1, f"rows of the request {request_id}")
    row = rows[0]
    equal(row["request_id"], request_id, "request_id of the row")
    equal(row["model"], model, "model of the row")
    equal(row["requests"], 1, "requests of the row")
    for name, want in fields.items():
        equal(row[name], want, f"{name} of the row")
    return row


# Ways in which a provider's stream is interrupted. If the gateway notices before it
# has sent a byte, the answer is a plain 502, else it is an error inside the stream.
# This depends on timing, so a suite accepts either and must see the second once.
BROKEN = ("cut-mid-stream", "cut-reset", "cut-clean", "err-mid-stream", "malformed")


def wire(path, body, key=KEY):
    """Streams without an SDK and returns the data of every event as text; none
    if the answer is a 502."""
    with httpx.stream(
        "POST",
        ORIGIN + path,
        json=body,
        headers={"Authorization": f"Bearer {key}"},
        timeout=TIMEOUT,
    ) as answer:
        if answer.status_code == 502:
            return []
        equal(answer.status_code, 200, "status of the stream")
        kind = answer.headers["content-type"].split(";")[0]
        equal(kind, "text/event-stream", "content type of the stream")
        return [line[5:].strip() for line in answer.iter_lines() if line.startswith("data:")]


def chunks(path, body):
    """The chunks of a chat stream, which has to end in [DONE]."""
    data = wire(path, body)
    equal(data[-1:], ["[DONE]"], "last event")
    return [json.loads(d) for d in data[:-1]]


# The API of each provider that has only one: the end of its path.
OWN_API = {
    "chatonly": "/v1/chat/completions",
    "responsesonly": "/v1/responses",
    "anthropic": "/v1/messages",
}


def asked_in_its_own_api(text):
    """Checks in which API the provider received the requests that hold text."""
    seen = {r["path"] for r in upstream(text)}
    assert len(seen) == 1 and seen.pop().endswith(OWN_API[TARGET]), upstream(text)


def failed_over(name):
    """Checks that the broken first target of alias NAME-failover was asked."""
    assert upstream(f'"err-500-{name}"'), "nobody asked the first target"


def upstream(text):
    """Requests the fake provider received whose body holds text."""
    seen = httpx.get(FAKE + "/_control/requests", timeout=TIMEOUT).json()
    return [r for r in seen if text in r["body"]]
