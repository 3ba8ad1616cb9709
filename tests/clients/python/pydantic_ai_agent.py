"""One run of an agent of Pydantic AI, as agent.py does it.

    pydantic_ai_agent.py chat|responses
"""

import json
import os
import sys

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from read_file import read_file

# settings
provider = OpenAIProvider(base_url=os.environ["GATEWAY_BASE_URL"], api_key=os.environ["GATEWAY_API_KEY"])
chat = OpenAIChatModel(os.environ["GATEWAY_MODEL"], provider=provider)
responses = OpenAIResponsesModel(os.environ["GATEWAY_MODEL"], provider=provider)
# end of settings

agent = Agent({"chat": chat, "responses": responses}[sys.argv[1]], tools=[read_file])
try:
    result = agent.run_sync(sys.stdin.read())
    print(json.dumps({"said": result.output}))
except AgentRunError as e:
    print(json.dumps({"failed": f"{type(e).__name__}: {e}"}))
