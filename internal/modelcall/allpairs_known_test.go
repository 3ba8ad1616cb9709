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

// knownFaults only shrink: one that is mended fails the test. OpenAI refuses these, but other
// providers of chat completions serve them, and the gateway does not know which it asks.
var knownFaults = []knownFault{
	{"a call without a result", "", "chat", "tool_calls must be followed by tool messages for each tool_call_id"},
	{"one of two calls without a result", "", "chat", "tool_calls must be followed by tool messages for each tool_call_id"},
	{"a call at the end", "responses", "chat", "tool_calls must be followed by tool messages for each tool_call_id"},
	{"two results of one call", "", "chat", "messages with role 'tool' must respond to a preceding message with 'tool_calls'"},
}
