package conversation

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// nameCalls gives calls and tools the ids and names that the target takes. No two calls have one
// id.
func (c *Conversation) nameCalls() {
	for _, call := range c.calls {
		call.Name = c.toolName(call.Name)
	}
	unique := len(c.open) == len(c.calls)
	if c.rules.IDs.Most == 0 || unique && !slices.ContainsFunc(c.calls, func(call *ToolCall) bool { return !c.rules.IDs.Takes(call.ID) }) {
		return
	}
	taken, again := make(map[string]bool, len(c.calls)), map[string]int{}
	for _, call := range c.calls {
		own := decoded(call.ID)
		id := c.rules.IDs.Legal(own)
		for taken[id] {
			again[own]++
			id = c.rules.IDs.Legal(own + "_" + strconv.Itoa(again[own]+1))
		}
		if taken[id] = true; id != own {
			call.ID = jsonscan.AppendString(nil, id)
		}
	}
}

// toolName returns the name of a tool as the target takes it; both are quoted.
func (c *Conversation) toolName(quoted []byte) []byte {
	if c.rules.Names.Takes(quoted) {
		return quoted
	}
	own := decoded(quoted)
	name := c.rules.Names.Legal(own)
	if name == own {
		return quoted
	}
	if c.names == nil {
		c.names = make(translate.Names)
	}
	c.names[name] = bytes.Clone(quoted)
	return jsonscan.AppendString(nil, name)
}
