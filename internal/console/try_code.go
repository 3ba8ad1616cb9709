package console

import (
	"encoding/json"
	"strings"
)

// snippet is a program that asks the same question.
type snippet struct{ Name, Text string }

// snippetTexts are those of the snippets, in their order.
func snippetTexts(address string, q *question) (list []string) {
	for _, s := range snippets(address, q) {
		list = append(list, s.Text)
	}
	return list
}

// snippets ask the first model of a question by curl and in two languages, over each API. A file is left out.
func snippets(address string, q *question) []snippet {
	bare := *q
	bare.file = ""
	model, text, system := literal(q.Model()), literal(q.Text), literal(q.System)
	asked := literal(bare.messages())
	instructions, top := "", ""
	if q.System != "" {
		instructions = ", instructions=" + system
		top = ", system=" + system
	}
	responses := map[string]any{"model": q.Model(), "input": q.Text}
	messages := map[string]any{"model": q.Model(), "max_tokens": 1024, "messages": []map[string]string{{"role": "user", "content": q.Text}}}
	if q.System != "" {
		responses["instructions"], messages["system"] = q.System, q.System
	}
	response, message := literal(responses), literal(messages)
	openai := "from openai import OpenAI\n\nclient = OpenAI(base_url=" + literal(address+"/v1") + ", api_key=os.environ[\"GATEWAY_API_KEY\"])\n"
	openaiTS := "import OpenAI from \"openai\";\n\nconst client = new OpenAI({ baseURL: " + literal(address+"/v1") + ", apiKey: process.env.GATEWAY_API_KEY });\n"
	return []snippet{
		{"curl, chat completions", curl(address+"/v1/chat/completions", literal(map[string]any{"model": q.Model(), "messages": bare.messages()}))},
		{"Python, chat completions", "import os\n" + openai + "answer = client.chat.completions.create(model=" + model + ", messages=" + asked + ")\nprint(answer.choices[0].message.content)"},
		{"TypeScript, chat completions", openaiTS + "const answer = await client.chat.completions.create({ model: " + model + ", messages: " + asked + " });\nconsole.log(answer.choices[0].message.content);"},
		{"curl, Responses", curl(address+"/v1/responses", response)},
		{"Python, Responses", "import os\n" + openai + "answer = client.responses.create(model=" + model + ", input=" + text + instructions + ")\nprint(answer.output_text)"},
		{"TypeScript, Responses", openaiTS + "const answer = await client.responses.create(" + response + ");\nconsole.log(answer.output_text);"},
		{"curl, Messages", curl(address+"/v1/messages", message)},
		{"Python, Messages", "import os\nfrom anthropic import Anthropic\n\nclient = Anthropic(base_url=" + literal(address) + ", api_key=os.environ[\"GATEWAY_API_KEY\"])\n" +
			"answer = client.messages.create(model=" + model + ", max_tokens=1024" + top + ", messages=[{\"role\": \"user\", \"content\": " + text + "}])\nprint(answer.content[0].text)"},
		{"TypeScript, Messages", "import Anthropic from \"@anthropic-ai/sdk\";\n\nconst client = new Anthropic({ baseURL: " + literal(address) + ", apiKey: process.env.GATEWAY_API_KEY });\n" +
			"const answer = await client.messages.create(" + message + ");\nconsole.log(answer.content[0]);"},
	}
}

// literal is a value as JSON, which is also how Python and TypeScript write texts and lists of them.
func literal(value any) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value) // texts and numbers can be encoded
	return strings.TrimSuffix(out.String(), "\n")
}

// curl is a command with a JSON body.
func curl(url, body string) string {
	return "curl " + shellQuoted(url) + " \\\n  -H \"Authorization: Bearer $GATEWAY_API_KEY\" \\\n  -H \"Content-Type: application/json\" \\\n  -d " + shellQuoted(body)
}
