package modelcall

import (
	"slices"
	"strings"
)

// knownFault is a case that fails at some pairs.
type knownFault struct {
	name    string // of the case
	callers string // "" for all that the case has at each target
	targets string
	why     string // what is sent, or what the rule of the target says of it
}

func (f *knownFault) concerns(c *pairCase, from *caller, to *vendor) bool {
	return f.name == c.name && slices.Contains(strings.Fields(f.targets), to.name) &&
		(f.callers == "" || slices.Contains(strings.Fields(f.callers), from.name))
}

// knownToTypes are those that only the vendor's types refuse: tests/sdk/python/pairs_suite.py.
var knownToTypes = []knownFault{}

// knownFaults only shrink: one that is mended fails the test.
var knownFaults = []knownFault{
	{"tool name of 65", "", "converse", "toolSpec.name goes out as it is; ToolName is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name of 65", "", openAIs, "tools[0].name goes out as it is; it is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name of 128", "", "converse", "toolSpec.name goes out as it is; ToolName is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name of 128", "", openAIs, "tools[0].name goes out as it is; it is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name of 200", "", "converse", "toolSpec.name goes out as it is; ToolName is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name of 200", "", onGemini, "refused; it is 1 to 128 of [a-zA-Z0-9_.:-], and begins with a letter or _"},
	{"tool name of 200", "", openAIs, "tools[0].name goes out as it is; it is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name with dots", "", "converse", "toolSpec.name goes out as it is; ToolName is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name with dots", "", openAIs, "tools[0].name goes out as it is; it is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name with slashes", "", "converse", "toolSpec.name goes out as it is; ToolName is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name with slashes", "", onGemini, "refused; it is 1 to 128 of [a-zA-Z0-9_.:-], and begins with a letter or _"},
	{"tool name with slashes", "", openAIs, "tools[0].name goes out as it is; it is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name with other letters", "", "converse", "toolSpec.name goes out as it is; ToolName is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name with other letters", "", onGemini, "refused; it is 1 to 128 of [a-zA-Z0-9_.:-], and begins with a letter or _"},
	{"tool name with other letters", "", openAIs, "tools[0].name goes out as it is; it is 1 to 64 of [a-zA-Z0-9_-]"},
	{"tool name that begins with a digit", "", onGemini, "refused; it is 1 to 128 of [a-zA-Z0-9_.:-], and begins with a letter or _"},
	{"long names that begin alike", "", "converse", "toolSpec.name goes out as it is; ToolName is 1 to 64 of [a-zA-Z0-9_-]"},
	{"long names that begin alike", "", openAIs, "tools[0].name goes out as it is; it is 1 to 64 of [a-zA-Z0-9_-]"},
	{"choice of a long name", "", "converse", "toolSpec.name goes out as it is; ToolName is 1 to 64 of [a-zA-Z0-9_-]"},
	{"choice of a long name", "", openAIs, "tools[0].name goes out as it is; it is 1 to 64 of [a-zA-Z0-9_-]"},
	{"call of a long name that is no tool now", "", "converse", "toolSpec.name goes out as it is; ToolName is 1 to 64 of [a-zA-Z0-9_-]"},
	{"call of a long name that is no tool now", "", openAIs, "messages[1].tool_calls[0].function.name goes out as it is; it is 1 to 64 of [a-zA-Z0-9_-]"},
	{"call id of 65", "", openAIs, "tool_calls[0].id or call_id goes out as it is; its maximum length is 64"},
	{"call id of 200", "", openAIs, "tool_calls[0].id or call_id goes out as it is; its maximum length is 64"},
	{"empty call id", "", "converse", "toolUseId is empty; it is 1 to 64 of [a-zA-Z0-9_.:-]"},
	{"empty call id", "", onClaude, "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
	{"empty call id", "", openAIs, "tool_calls[0].id or call_id is empty; its minimum length is 1"},
	{"long call ids that begin alike", "", openAIs, "tool_calls[0].id or call_id goes out as it is; its maximum length is 64"},
	{"the same id twice in a turn", "", "converse", "The toolUse or toolResult blocks at messages.1.content contain duplicate Ids: [c1 c1]"},
	{"the same id twice in a turn", "", onClaude, "messages: `tool_use` ids must be unique"},
	{"two empty ids", "", "converse", "toolUseId is empty; it is 1 to 64 of [a-zA-Z0-9_.:-]"},
	{"two empty ids", "", onClaude, "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
	{"two empty ids", "", openAIs, "tool_calls[0].id or call_id is empty; its minimum length is 1"},
	{"result behind a text of the user", "chat responses", onGemini, "function response parts are not as many as the calls of the turn before"},
	{"result behind a text of the user", "responses", "chat", "tool_calls must be followed by tool messages for each tool_call_id"},
	{"results with a text between them", "chat responses", onGemini, "function response parts are not as many as the calls of the turn before"},
	{"results with a text between them", "responses", "chat", "tool_calls must be followed by tool messages for each tool_call_id"},
	{"a call without a result", "", "converse", "Expected toolResult blocks at messages.2.content for the following Ids: c1"},
	{"a call without a result", "", onClaude, "tool_use ids were found without tool_result blocks immediately after"},
	{"a call without a result", "", openAIs, "tool_calls must be followed by tool messages for each tool_call_id"},
	{"one of two calls without a result", "", "converse", "Expected toolResult blocks at messages.2.content for the following Ids: c2"},
	{"one of two calls without a result", "", onClaude, "tool_use ids were found without tool_result blocks immediately after"},
	{"one of two calls without a result", "", onGemini, "function response parts are not as many as the calls of the turn before"},
	{"one of two calls without a result", "", openAIs, "tool_calls must be followed by tool messages for each tool_call_id"},
	{"a call at the end", "chat responses", "converse", "Expected toolResult blocks at the end for the following Ids: c1"},
	{"a call at the end", "", onClaude, "tool_use ids were found without tool_result blocks immediately after"},
	{"a call at the end", "responses", "chat", "tool_calls must be followed by tool messages for each tool_call_id"},
	{"a call at the end", "chat", "responses", "No tool output found for function call c1."},
	{"a result without its call", "chat responses", "converse", "The number of toolResult blocks at messages.0.content exceeds the toolUse blocks before it"},
	{"a result without its call", "", onClaude, "unexpected tool_use_id in tool_result blocks"},
	{"a result without its call", "responses", "chat", "messages with role 'tool' must respond to a preceding message with 'tool_calls'"},
	{"a result without its call", "chat", "responses", "No tool call found for function call output with call_id c1."},
	{"two results of one call", "", "converse", "The toolUse or toolResult blocks at messages.2.content contain duplicate Ids: [c1 c1]"},
	{"two results of one call", "", onGemini, "function response parts are not as many as the calls of the turn before"},
	{"two results of one call", "", "chat", "messages with role 'tool' must respond to a preceding message with 'tool_calls'"},
	{"the model ends with a space", "", onClaude, "messages: final assistant content cannot end with trailing whitespace"},
	{"only a system prompt", "", "converse gemini gemini-2.5", "refused: needs a message of the user; the other targets take it"},
	{"no turns", "chat", "responses", "input [] is sent; the other targets refuse it"},
	{"no items", "", "chat", "messages [] is sent; its minimum length is 1"},
	{"only an empty text", "", onGemini, "contents [] is sent; it must not be empty"},
	{"tool without properties", "", openAIs, "object schema missing properties."},
	{"tool with empty parameters", "", openAIs, `schema must be a JSON Schema of 'type: "object"', got 'type: <nil>'`},
	{"tool without a type", "", openAIs, `schema must be a JSON Schema of 'type: "object"', got 'type: <nil>'`},
	{"tool with null properties", "", openAIs, "object schema missing properties."},
	{"choice none after a call", "", "converse", `refused: "tool_choice" cannot be "none"; it can be served without the choice`},
	{"arguments null", "", "converse", `refused: must be the text of a JSON object; it is what "" is`},
	{"arguments null", "", onClaude, `refused: must be the text of a JSON object; it is what "" is`},
	{"arguments null", "", onGemini, `refused: must be the text of a JSON object; it is what "" is`},
	{"format: minimum, maximum", "", onClaude, "properties.a: For 'integer' type, property 'minimum' is not supported"},
	{"format: exclusiveMinimum", "", onClaude, "properties.a: For 'number' type, property 'exclusiveMinimum' is not supported"},
	{"format: multipleOf", "", onClaude, "properties.a: For 'integer' type, property 'multipleOf' is not supported"},
	{"format: lengths", "", onClaude, "properties.a: For 'string' type, property 'maxLength' is not supported"},
	{"format: pattern", "", onClaude, "properties.a: For 'string' type, property 'pattern' is not supported"},
	{"format: items", "", onClaude, "properties.a: For 'array' type, property 'maxItems' is not supported"},
	{"format: minItems 2", "", onClaude, "properties.a: For 'array' type, 'minItems' values other than 0 or 1 are not supported"},
	{"format: another format", "", onClaude, "properties.a: String format 'binary' is not supported"},
	{"format: default", "", onClaude, "properties.a: For 'string' type, property 'default' is not supported"},
	{"format: anyOf", "", onClaude, "properties.a.anyOf.0: For 'integer' type, property 'minimum' is not supported"},
	{"format: oneOf", "", onClaude, "properties.a: For '' type, property 'oneOf' is not supported"},
	{"format: $ref", "", onClaude, "$defs.A: For 'integer' type, property 'minimum' is not supported"},
	{"format: $ref with a description", "", onClaude, "properties.a: For '' type, property 'description' is not supported"},
	{"strict tool: minimum, maximum", "", onClaude, "properties.a: For 'integer' type, property 'minimum' is not supported"},
	{"strict tool: lengths", "", onClaude, "properties.a: For 'string' type, property 'maxLength' is not supported"},
	{"strict tool: items", "", onClaude, "properties.a: For 'array' type, property 'maxItems' is not supported"},
	{"strict tool: pattern", "", onClaude, "properties.a: For 'string' type, property 'pattern' is not supported"},
	{"strict tool: oneOf", "", onClaude, "properties.a: For '' type, property 'oneOf' is not supported"},
	{"strict tool: optional property", "", openAIs, "strict: true is kept; 'required' must include every key in properties"},
	{"image/jpg", "", onGemini, "Unsupported MIME type: image/jpg (contents[0])"},
	{"presence_penalty", "", "converse responses", "refused: not supported; it can be left out"},
	{"presence_penalty", "", "gemini", "refused: this model does not take it; it can be left out"},
	{"frequency_penalty", "", "converse responses", "refused: not supported; it can be left out"},
	{"frequency_penalty", "", "gemini", "refused: this model does not take it; it can be left out"},
	{"logit_bias", "", "converse gemini gemini-2.5 responses", "refused: not supported; it can be left out"},
	{"prompt_cache_options", "", "converse", "refused: not supported; it can be left out"},
	{"prompt_cache_options", "", onClaude, "refused: not supported; it can be left out"},
	{"prompt_cache_options", "", onGemini, "refused: not supported; it can be left out"},
	{"prompt_cache_options", "", openAIs, "refused: not supported; it can be left out"},
	{"a call without thoughts", "", "reasoning", `reasoning_content must be passed back, "" if there is none`},
	{"an empty text before a call without thoughts", "", "reasoning", `reasoning_content must be passed back, "" if there is none`},
	{"cache_control with a scope", "", claudes, "system.0.cache_control.ephemeral.scope: Extra inputs are not permitted"},
	{"cache_control of the request", "", claudes, "cache_control: Extra inputs are not permitted"},
}
