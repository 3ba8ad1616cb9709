"""openai (Python) and the gateway's refusals, with the SDK's own retries.
Usage: refusals_openai.py sync|async"""

import asyncio
import sys

import openai
import openai._base_client as base

import contract
import refusals
from contract import ORIGIN, equal

# The SDK's class for a status. 402 and 413 have no class.
CLASSES = {
    400: openai.BadRequestError,
    401: openai.AuthenticationError,
    402: openai.APIStatusError,
    403: openai.PermissionDeniedError,
    404: openai.NotFoundError,
    413: openai.APIStatusError,
    422: openai.UnprocessableEntityError,
    429: openai.RateLimitError,
    502: openai.InternalServerError,
    503: openai.InternalServerError,
}
IN_A_STREAM = openai.APIError


def arguments(call):
    common = {"model": call["model"], "stream": call["streamed"]}
    if call["api"] == "chat":
        common["messages"] = [{"role": "user", "content": call["text"]}]
        limit = "max_completion_tokens"
    else:
        common["input"] = call["text"]
        limit = "max_output_tokens"
    return common | ({limit: call["tokens"]} if call["tokens"] else {})


def method(client, call):
    return client.chat.completions.create if call["api"] == "chat" else client.responses.create


def piece(call, event):
    """The text of an event of a stream."""
    if call["api"] == "chat":
        return event.choices[0].delta.content or ""
    return event.delta if event.type == "response.output_text.delta" else ""


def common():
    return {"base_url": ORIGIN + "/v1", "api_key": "each call has its own", "timeout": contract.TIMEOUT}


def performer():
    client = openai.OpenAI(**common())

    def perform(call):
        outcome, by = refusals.Outcome(), client.with_options(api_key=call["secret"])

        def once():
            outcome.pieces.clear()
            answer = method(by, call)(**arguments(call))
            if call["streamed"]:
                for event in answer:
                    outcome.pieces.append(piece(call, event))
            outcome.answered += 1

        for _ in range(call["before"]):
            once()
        with refusals.clock_in(base, "time", refusals.Clock, call) as clock:
            try:
                for _ in refusals.attempts(call, clock):
                    once()
            except openai.APIError as e:
                outcome.error = e
        outcome.waits = clock.waits
        return describe(call, outcome)

    return perform


def async_performer():
    client, runner = openai.AsyncOpenAI(**common()), asyncio.Runner()

    async def body(call, outcome, by):
        async def once():
            outcome.pieces.clear()
            answer = await method(by, call)(**arguments(call))
            if call["streamed"]:
                async for event in answer:
                    outcome.pieces.append(piece(call, event))
            outcome.answered += 1

        for _ in range(call["before"]):
            await once()
        with refusals.clock_in(base, "anyio", refusals.AsyncClock, call) as clock:
            try:
                for _ in refusals.attempts(call, clock):
                    await once()
            except openai.APIError as e:
                outcome.error = e
        outcome.waits = clock.waits

    def perform(call):
        outcome = refusals.Outcome()
        runner.run(body(call, outcome, client.with_options(api_key=call["secret"])))
        return describe(call, outcome)

    return perform


def describe(call, outcome):
    """Checks what this SDK raised."""
    e = outcome.error
    if e is None:
        return outcome
    print("#", type(e).__name__, e)
    inside = bool(call["inside"])
    equal(type(e), IN_A_STREAM if inside else CLASSES[call["status"]], "class")
    equal((e.code, e.type, e.param), (call["code"], call["type"], refusals.param_of(call)), "code, type and param")
    outcome.message = e.message
    if not inside:
        equal(e.status_code, call["status"], "status")
        assert e.request_id and e.request_id == e.response.headers["x-request-id"], e.request_id
        outcome.headers, outcome.request_id = e.response.headers, e.request_id
    return outcome


refusals.register(performer() if sys.argv[1] == "sync" else async_performer())
contract.main()
