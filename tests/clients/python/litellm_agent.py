"""One run with LiteLLM as the client, as agent.py does it.

    litellm_agent.py chat
"""

import json
import os
import sys

import litellm

from read_file import read_file

# settings
gateway = {
    "model": "openai/" + os.environ["GATEWAY_MODEL"],
    "api_base": os.environ["GATEWAY_BASE_URL"],
    "api_key": os.environ["GATEWAY_API_KEY"],
}
# end of settings

litellm.telemetry = False
litellm.suppress_debug_info = True
tool = {"type": "function", "function": {"name": "read_file", "description": "Reads a file.", "parameters": {
    "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}
messages = [{"role": "user", "content": sys.stdin.read()}]
try:
    while True:
        pieces = list(litellm.completion(messages=messages, tools=[tool], stream=True, **gateway))
        answer = litellm.stream_chunk_builder(pieces, messages=messages).choices[0].message
        if not answer.tool_calls:
            break
        messages.append(answer.model_dump())
        messages += [{"role": "tool", "tool_call_id": call.id, "content": read_file(**json.loads(call.function.arguments))} for call in answer.tool_calls]
    print(json.dumps({"said": answer.content}))
except litellm.exceptions.APIError as e:
    print(json.dumps({"failed": f"{type(e).__name__}: {e}"}))
except Exception as e:  # its other errors are those of the OpenAI SDK
    print(json.dumps({"failed": f"{type(e).__name__}: {e}"}))
