"""One run of an agent of the OpenAI Agents SDK.

    agent.py responses|chat functions|local|hosted

The prompt is on standard input, the rest in the environment: GATEWAY_BASE_URL,
GATEWAY_API_KEY, GATEWAY_MODEL. Prints {"said": ...}, or {"failed": ...} with the
name of the exception and its message.
"""

import asyncio
import json
import os
import sys

import agents
import openai
from agents import Agent, CustomTool, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner, ShellTool, WebSearchTool

# A key of OpenAI would be needed to export traces, and there is nobody to send them to.
agents.set_tracing_disabled(True)


@agents.function_tool
def read_file(name: str) -> str:
    """Reads a file."""
    with open(name, encoding="utf-8") as file:
        return file.read()


@agents.function_tool
def count(what: str) -> str:
    """Counts the letters of a word."""
    return f"{what} has {len(what)} letters"


async def shout(_context, text: str) -> str:
    return text.upper()


async def shell(_request) -> str:
    return "nothing is run"


TOOLS = {
    "functions": lambda: [read_file],
    # All of these run in this program: those of a namespace, a custom one, a shell.
    "local": lambda: [
        *agents.tool_namespace(name="words", description="Tools for words.", tools=[count]),
        CustomTool(name="shout", description="Shouts.", on_invoke_tool=shout),
        ShellTool(executor=shell),
    ],
    "hosted": lambda: [read_file, WebSearchTool()],
}


async def main() -> None:
    api, tools = sys.argv[1:]
    # settings
    client = openai.AsyncOpenAI(base_url=os.environ["GATEWAY_BASE_URL"], api_key=os.environ["GATEWAY_API_KEY"])
    responses = OpenAIResponsesModel(os.environ["GATEWAY_MODEL"], client)
    chat = OpenAIChatCompletionsModel(os.environ["GATEWAY_MODEL"], client)
    # end of settings
    agent = Agent(
        name="reader",
        instructions="Answer with the tools that you have.",
        tools=TOOLS[tools](),
        model={"responses": responses, "chat": chat}[api],
    )
    run = Runner.run_streamed(agent, sys.stdin.read())
    try:
        async for _ in run.stream_events():
            pass
        print(json.dumps({"said": run.final_output}))
    except (openai.OpenAIError, agents.AgentsException) as e:
        print(json.dumps({"failed": f"{type(e).__name__}: {e}"}))


asyncio.run(main())
