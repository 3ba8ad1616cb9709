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
	{"two results of one call", "", "converse", "The toolUse or toolResult blocks at messages.2.content contain duplicate Ids: [c1 c1]"},
	{"two results of one call", "", onGemini, "function response parts are not as many as the calls of the turn before"},
	{"two results of one call", "", "chat", "messages with role 'tool' must respond to a preceding message with 'tool_calls'"},
}
