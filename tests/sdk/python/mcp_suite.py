"""mcp (Python): tools of MCP servers behind the gateway, in both eras of the protocol.

The built-in server is demo. stateless and sessions are the Go SDK's server for
conformance tests, as a server of 2026-07-28 and as one of 2025-11-25.
"""

import asyncio
import os
import traceback
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CreateMessageResult, ElicitResult, TextContent

from contract import KEY, ORIGIN, TIMEOUT, case, equal, main

NARROW_KEY = os.environ["GATEWAY_NARROW_KEY"]  # mcp:call, and of demo the tool echo only
LATEST, SESSIONS = "2026-07-28", "2025-11-25"
ERAS = (("auto", LATEST), ("legacy", SESSIONS))


@asynccontextmanager
async def connect(server, mode="auto", key=KEY, **options):
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=TIMEOUT)
    transport = streamable_http_client(f"{ORIGIN}/mcp/{server}", http_client=http)
    async with http, Client(transport, mode=mode, **options) as client:
        yield client


def run(coroutine):
    return asyncio.run(asyncio.wait_for(coroutine, TIMEOUT))


def text(result):
    return result.content[0].text


async def refused(coroutine):
    """The code with which a call is refused."""
    try:
        await coroutine
    except MCPError as e:
        return e.code
    raise AssertionError("it was not refused")


@case()
def tools_round_trip_in_both_eras():
    async def body(mode, version):
        async with connect("demo", mode) as client:
            equal(client.protocol_version, version, "version")
            tools = (await client.list_tools()).tools
            equal([t.name for t in tools], ["echo", "time", "slow", "error"], "tools")
            answer = await client.call_tool("echo", {"text": "hü <b>"})
            equal((text(answer), answer.is_error), ("hü <b>", False), "echo")
            failed = await client.call_tool("error", {})
            equal(failed.is_error, True, "is_error")
            equal(await refused(client.call_tool("none", {})), -32602, "unknown tool")

    for mode, version in ERAS:
        run(body(mode, version))


@case()
def progress_comes_before_the_answer():
    async def body(mode):
        seen = []

        async def progress(done, total, message):
            seen.append((done, total))

        async with connect("demo", mode) as client:
            answer = await client.call_tool("slow", {"seconds": 2}, progress_callback=progress)
            equal(text(answer), "That took 2 s.", "answer")
            equal(seen, [(1, 2)], "progress")

    for mode, _ in ERAS:
        run(body(mode))


@case()
def a_key_has_its_tools_and_no_others():
    async def body(mode):
        async with connect("demo", mode, NARROW_KEY) as client:
            equal([t.name for t in (await client.list_tools()).tools], ["echo"], "tools")
            equal(text(await client.call_tool("echo", {"text": "a"})), "a", "echo")
            equal(await refused(client.call_tool("time", {})), -32602, "another tool")

    for mode, _ in ERAS:
        run(body(mode))


@case()
def a_wrong_key_or_server_ends_at_once():
    async def body(server, key, mode, said):
        try:
            async with connect(server, mode, key):
                pass
        except Exception as e:  # of which kind, changes with the mode
            assert said in "".join(traceback.format_exception(e)), f"it does not say why: {e!r}"
            return
        raise AssertionError("it was let in")

    for mode, _ in ERAS:
        run(body("demo", "gh-wrong", mode, "API key is missing or not valid"))
        run(body("stateless", NARROW_KEY, mode, "this key may not use it"))
        run(body("none", KEY, mode, "does not exist"))


@case()
def a_server_asks_the_client():
    async def sampled(context, params):
        return CreateMessageResult(role="assistant", model="m", content=TextContent(type="text", text="sampled"))

    async def elicited(context, params):
        return ElicitResult(action="accept", content={"name": "Ada", "username": "ada", "email": "a@example.com"})

    async def body(server, mode, version, tool, arguments):
        async with connect(server, mode, sampling_callback=sampled, elicitation_callback=elicited) as client:
            equal(client.protocol_version, version, "version")
            answer = await client.call_tool(tool, arguments)
            equal(answer.is_error or False, False, f"is_error of {tool}: {answer}")

    run(body("sessions", "auto", SESSIONS, "test_sampling", {"prompt": "hello"}))
    run(body("sessions", "auto", SESSIONS, "test_elicitation", {"message": "who?"}))
    run(body("stateless", "auto", LATEST, "test_input_required_result_elicitation", {}))
    run(body("stateless", "auto", LATEST, "test_input_required_result_sampling", {}))


@case()
def resources_and_prompts():
    async def body(server):
        async with connect(server) as client:
            assert (await client.list_resources()).resources, "no resources"
            got = await client.read_resource("test://static-text")
            assert got.contents[0].text, "no text"
            prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "one", "arg2": "two"})
            assert "one" in prompt.messages[0].content.text, prompt

    run(body("sessions"))
    run(body("stateless"))


if __name__ == "__main__":
    main()
