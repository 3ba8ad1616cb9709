import openai

client = openai.OpenAI()
assert "test/echo" in [m.id for m in client.models.list()], "models"
ask = [{"role": "user", "content": "hello"}]
chat = client.chat.completions.create(model="test/echo", messages=ask)
assert "hello" in chat.choices[0].message.content and chat.usage.total_tokens > 0, chat
text = "".join(c.choices[0].delta.content or "" for c in client.chat.completions.create(model="test/echo", messages=ask, stream=True) if c.choices)
assert "hello" in text, text
response = client.responses.create(model="test/echo", input="hello")
assert "hello" in response.output_text, response
events = [e.type for e in client.responses.create(model="test/echo", input="hello", stream=True)]
assert events[0] == "response.created" and events[-1] == "response.completed", events
for use, want in ((client.with_options(api_key="wrong"), openai.AuthenticationError), (client, openai.NotFoundError)):
    try:
        use.chat.completions.create(model="test/none/such" if want is openai.NotFoundError else "test/echo", messages=ask)
    except want:
        continue
    raise AssertionError(f"no {want}")
