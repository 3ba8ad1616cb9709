"""What the Python suites of refusals share: the calls of tests/sdk/refusals.json
as the driver made them, the checks of a refusal that are equal for every SDK, the
count of the requests at the gateway, and a fake clock."""

import contextlib
import json
import os
import re
import time

import httpx

import contract
from contract import ORIGIN, equal

with open(os.environ["GATEWAY_CALLS"], encoding="utf-8") as _file:
    CALLS = json.load(_file)

HTTP = httpx.Client(timeout=contract.TIMEOUT)  # without any SDK


def register(perform):
    """Makes a case of each call; perform(call) returns the Outcome."""
    for call in CALLS:

        def fn(call=call):
            unknown = unauthenticated() if call["key"] == "none" else None
            with held_stream(call) if call["hold"] else contextlib.nullcontext():
                outcome = perform(call)
            check(call, outcome, unknown)

        parts = [call["name"], call["api"], "streamed" if call["streamed"] else ""]
        fn.__name__ = " ".join(parts).strip()
        contract.case()(fn)


class Outcome:
    """The result of a call. error is what was raised, or None; message, headers
    and request_id are the error's, None if the SDK does not show them."""

    def __init__(self):
        self.error = self.message = self.headers = self.request_id = None
        self.pieces = []  # of a stream, before the error
        self.answered = 0  # calls, including earlier ones
        self.waits = []  # seconds that the SDK waited for between requests


# In an hour of retries the clock advances ten times as far as the SDK waits: that
# makes some forty requests instead of four hundred.
HASTE = 10


class Clock:
    """Replaces a module with sleep and time in an SDK: sleep advances the clock and
    returns at once, and records the wait. A real one does sleep."""

    def __init__(self, module, real=False, haste=1):
        self._module, self._real, self._haste = module, real, haste
        self._ahead, self.waits = 0, []

    def __getattr__(self, name):
        return getattr(self._module, name)

    def time(self):
        return self._module.time() + self._ahead

    def sleep(self, seconds):
        self.waits.append(seconds)
        if self._real:
            return self._module.sleep(seconds)
        self._ahead += seconds * self._haste


class AsyncClock(Clock):
    async def sleep(self, seconds):
        self.waits.append(seconds)
        if self._real:
            return await self._module.sleep(seconds)
        self._ahead += seconds * self._haste


@contextlib.contextmanager
def clock_in(module, name, kind, call):
    """Puts a clock in the place of module.name; it is real for a call that the
    gateway answers after the wait."""
    original = getattr(module, name)
    requests = call["requests"]
    clock = kind(original, requests == "answered", HASTE if requests == "an hour" else 1)
    setattr(module, name, clock)
    try:
        yield clock
    finally:
        setattr(module, name, original)


@contextlib.contextmanager
def held_stream(call):
    """A stream of the same key that does not end by itself."""
    body = {"model": "fake/stall", "stream": True, "messages": [{"role": "user", "content": "x"}]}
    headers = {"Authorization": f"Bearer {call['secret']}"}
    with HTTP.stream("POST", ORIGIN + "/v1/chat/completions", json=body, headers=headers) as answer:
        equal(answer.status_code, 200, "status of the stream that is held")
        lines = answer.iter_lines()  # kept: the stream ends with it
        next(lines)
        yield
        lines.close()


def get(path, **params):
    headers = {"Authorization": f"Bearer {contract.ACTIVITY_KEY}"}
    answer = HTTP.get(ORIGIN + path, params=params, headers=headers)
    equal(answer.status_code, 200, f"status of {path}")
    return answer


def unauthenticated():
    """Requests without a valid key, which leave no row of the activity."""
    lines = get("/metrics").text.splitlines()
    return sum(float(x.split()[-1]) for x in lines if x.startswith("gatehouse_unauthenticated_total"))


def rows(call, request_id):
    """The rows of the key's calls. A refusal that does not wait for the upload to
    end is sent before its row is written, so a row may come a moment later."""
    patience = time.monotonic() + 5
    while True:
        data = get("/api/v1/activity", key=call["key_name"], limit=1000).json()["data"]
        if request_id in [None, *(r["request_id"] for r in data)]:
            return data
        assert time.monotonic() < patience, f"no row of {request_id}"
        time.sleep(0.01)


def attempts(call, clock):
    """A limit of a second is met unless the machine pauses between two calls: then
    one more shows it."""
    tries = 3 if call["before"] else 1
    while tries and not clock.waits:
        yield
        tries -= 1


def limit_of(call):
    return f"key:{call['key_name']}" if call["limit"] else None


def param_of(call):
    if call["param"] != "OUTPUT":
        return call["param"] or None
    return "max_completion_tokens" if call["api"] == "chat" else "max_output_tokens"


def times_of(call, outcome):
    """How often the gateway refused, by what the SDK waited for."""
    waits = outcome.waits
    if call["waits"]:
        least, most = call["waits"]
        assert all(least <= w <= most for w in waits), f"waits {waits}"
    if call["requests"] == "an hour":
        assert HASTE * sum(waits[:-1]) <= 3600 < HASTE * sum(waits) + 60, f"waits {waits}"
        return len(waits) + 1
    want = {"once": 1, "thrice": 3, "answered": 2}[call["requests"]]
    equal(len(waits), want - 1, f"waits {waits}")
    return 1 if call["requests"] == "answered" else want


def check(call, outcome, unknown):
    """Checks what does not depend on the SDK."""
    times = times_of(call, outcome)
    if call["key"] == "none":
        equal(unauthenticated() - unknown, times, "requests without a valid key")
    else:
        seen = rows(call, outcome.request_id)
        refused = [r for r in seen if r["code"] == call["code"]]
        answered = [r for r in seen if r["status"] == 200 and not r["code"]]
        equal(len(refused), times, f"refused requests among {[(r['status'], r['code']) for r in seen]}")
        equal(len(answered), outcome.answered, "answered requests")
        equal({r["status"] for r in refused}, {call["status"]}, "status of the rows")
    if call["requests"] == "answered":
        equal(outcome.error, None, "error")
        return
    text = "".join(outcome.pieces)
    assert outcome.error, f"no error, but {text!r}"
    assert text.startswith(call["inside"]) and bool(text) == bool(call["inside"]), f"before the error {text!r}"
    assert not call["hidden"] or call["hidden"] not in text, f"before the error {text!r}"
    check_message(call, outcome.message)
    if outcome.headers is not None:
        check_headers(call, outcome.headers)


def check_message(call, message):
    wanted = call["message"] + ([limit_of(call)] if call["limit"] == "key" else [])
    for part in wanted:
        assert part in message, f"{part!r} is not in {message!r}"
    for part in [call["hidden"], call["secret"], *contract.CANARIES]:
        assert not part or part not in message, f"{part!r} is in {message!r}"


def check_headers(call, headers):
    for name, pattern in (call["headers"] or {"retry-after": "", "x-should-retry": "false"}).items():
        value = headers.get(name)
        if pattern == "":
            equal(value, None, name)
        else:
            assert value and re.fullmatch(pattern, value), f"{name}: {value!r}, want {pattern!r}"
