package modelcall

import "strings"

// The words of the cases of all pairs.
const (
	ab       = `{"a":"b"}`
	schema   = `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`
	optional = `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"],"additionalProperties":false}`

	effort    = `"reasoning_effort":"low"`
	reasoning = `"reasoning":{"effort":"low"}`
	thinking  = `"thinking":{"type":"enabled","budget_tokens":1024}`
	fiveStops = `"stop_sequences":["a1","b2","c3","d4","e5"]`

	question = fromUser("How is the weather?")
)

// Names of callers and of targets.
const (
	openAIs   = "chat responses"
	claudes   = "claude-on-bedrock claude-on-vertex"
	onClaude  = "messages " + claudes
	onGemini  = "gemini gemini-2.5"
	notOpenAI = onClaude + " converse " + onGemini
)

var (
	x65, x128, x200 = strings.Repeat("x", 65), strings.Repeat("y", 128), strings.Repeat("z", 200)

	weather = []offered{{name: "weather", schema: schema}}
)

func says(turns ...any) dialogue { return dialogue{turns: turns} }

func uses(turns ...any) dialogue { return dialogue{turns: turns, tools: weather} }

func chooses(choice string, turns ...any) dialogue {
	return dialogue{turns: turns, tools: weather, choice: choice}
}

func called(id string) toolCall { return toolCall{id, "weather", ab} }

func rain(id string) toolResult { return toolResult{id, "rain"} }

func sun(id string) toolResult { return toolResult{id, "sun"} }

// named is a conversation in which a tool was called that has a name.
func named(name string) dialogue {
	return dialogue{turns: []any{question, toolCall{"c1", name, ab}, rain("c1")}, tools: []offered{{name: name, schema: schema}}}
}

// numbered is a conversation in which the call has an id.
func numbered(id string) dialogue { return uses(question, called(id), rain(id)) }

// offers is a request with one tool.
func offers(schema string) dialogue {
	return dialogue{turns: []any{question}, tools: []offered{{name: "weather", schema: schema}}}
}

// strictly is a request with one strict tool.
func strictly(schema string) dialogue {
	return dialogue{turns: []any{question}, tools: []offered{{name: "weather", schema: schema, strict: true}}}
}

// formatted asks for an answer with a property of this schema.
func formatted(schema string, beside ...string) dialogue {
	return dialogue{turns: []any{question}, format: property(schema, beside...)}
}

// property is the schema of an object with a property of this schema.
func property(schema string, beside ...string) string {
	members := append([]string{`"type":"object","properties":{"a":` + schema + `},"required":["a"],"additionalProperties":false`}, beside...)
	return "{" + strings.Join(members, ",") + "}"
}
