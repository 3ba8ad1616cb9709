"""openai (Python), asynchronous client: the same contract through AsyncOpenAI."""

import asyncio

import openai
from openai import AsyncOpenAI

import contract
from contract import KEY, MODEL, ORIGIN, case, echo, equal, find, pick


def run(fn):
    """Runs fn(client) in a loop of its own."""

    async def body():
        async with AsyncOpenAI(
            base_url=ORIGIN + "/v1", api_key=KEY, max_retries=0, timeout=contract.TIMEOUT
        ) as client:
            return await fn(client)

    return asyncio.run(body())


def ask(text):
    return [{"role": "user", "content": text}]


@case()
def responses_over_a_websocket():
    async def fn(client):
        async with client.responses.connect() as connection:
            await connection.response.create(model=MODEL, input="over a websocket", stream=True)
            async for event in connection:
                if event.type == "response.completed":
                    return event.response

    equal(run(fn).output_text, echo("over a websocket"), "text")


@case(only="fake")
def a_realtime_session():
    async def fn(client):
        seen = []
        async with client.realtime.connect(model=MODEL) as connection:
            await connection.session.update(session={"type": "realtime", "output_modalities": ["text"], "instructions": "be kind"})
            await connection.conversation.item.create(
                item={"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello"}]}
            )
            await connection.response.create()
            async for event in connection:
                seen.append(event)
                if event.type in ("response.done", "error"):
                    return seen

    seen = run(fn)
    equal((seen[0].type, seen[0].session.model), ("session.created", MODEL), "session")
    equal("".join(e.delta for e in seen if e.type == "response.output_text.delta"), "You said hello", "text")
    usage = seen[-1].response.usage
    equal((usage.input_tokens, usage.output_token_details.audio_tokens), (100, 30), "usage")


@case()
def the_procedure():
    async def fn(client):
        model = pick([m.id async for m in client.models.list()])
        chat = await client.chat.completions.create(model=model, messages=ask("async chat"))
        reply = await client.responses.create(model=model, input="async responses")
        return chat, reply

    chat, reply = run(fn)
    equal((chat.choices[0].message.content, chat.model), (echo("async chat"), MODEL), "chat")
    equal((reply.output_text, reply.model), (echo("async responses"), MODEL), "response")
    find(chat._request_id, MODEL, status=200)
    find(reply._request_id, MODEL, status=200)


@case()
def streams_of_many_calls_at_once():
    async def one(client, text):
        stream = await client.chat.completions.create(
            model=MODEL, messages=ask(text), stream=True
        )
        return "".join([c.choices[0].delta.content or "" async for c in stream])

    async def fn(client):
        return await asyncio.gather(*(one(client, f"caller {n}") for n in range(20)))

    equal(run(fn), [echo(f"caller {n}") for n in range(20)], "texts")


@case()
def responses_stream_with_the_helper():
    async def fn(client):
        async with client.responses.stream(model=MODEL, input="one two") as stream:
            async for _ in stream:
                pass
            return await stream.get_final_response()

    equal(run(fn).output_text, echo("one two"), "text")


@case()
def an_unknown_model_is_404():
    async def fn(client):
        try:
            await client.responses.create(model="no-such/model", input="x")
        except openai.NotFoundError as e:
            return e.code

    equal(run(fn), "model_not_found", "code")


@case(only="fake")
def a_cut_stream_raises():
    async def fn(client):
        try:
            stream = await client.chat.completions.create(
                model="fake/cut-mid-stream", messages=ask("a b c d"), stream=True
            )
            return [c async for c in stream]
        except openai.APIError:
            return "raised"

    equal(run(fn), "raised", "outcome")


if __name__ == "__main__":
    contract.main()
