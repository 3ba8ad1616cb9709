"""One run of an agent of LangChain, as agent.py does it.

    langchain_agent.py chat|responses
"""

import json
import os
import sys

import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

from read_file import read_file

# settings
model = ChatOpenAI(
    base_url=os.environ["GATEWAY_BASE_URL"],
    api_key=os.environ["GATEWAY_API_KEY"],
    model=os.environ["GATEWAY_MODEL"],
    stream_usage=True,
)
# end of settings
if sys.argv[1] == "responses":
    model = ChatOpenAI(**{**model.model_dump(include={"stream_usage"}), "base_url": os.environ["GATEWAY_BASE_URL"],
                          "api_key": os.environ["GATEWAY_API_KEY"], "model": os.environ["GATEWAY_MODEL"], "use_responses_api": True})

reader = tool(read_file)
bound = model.bind_tools([reader])
messages = [HumanMessage(sys.stdin.read())]
try:
    while True:
        answer = None
        for piece in bound.stream(messages):
            answer = piece if answer is None else answer + piece
        if not answer.tool_calls:
            break
        messages.append(answer)
        messages += [ToolMessage(reader.invoke(call["args"]), tool_call_id=call["id"]) for call in answer.tool_calls]
    if not answer.usage_metadata:
        raise SystemExit("no usage")
    print(json.dumps({"said": answer.text if isinstance(answer.text, str) else answer.text()}))
except openai.OpenAIError as e:
    print(json.dumps({"failed": f"{type(e).__name__}: {e}"}))
