package demo

import (
	"fmt"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
)

// maxSeconds bounds what slow waits, and usualSeconds is its default.
const (
	maxSeconds   = 30
	usualSeconds = 3
)

// tools is the list of tools.
var tools = []object{
	{"name": "echo", "description": "Returns the text.", "inputSchema": object{"type": "object",
		"properties": object{"text": object{"type": "string"}}, "required": []string{"text"}}},
	{"name": "time", "description": "Returns the time in UTC.", "inputSchema": object{"type": "object"}},
	{"name": "slow", "description": "Answers after some seconds.", "inputSchema": object{"type": "object",
		"properties": object{"seconds": object{"type": "integer", "minimum": 1, "maximum": maxSeconds, "default": usualSeconds}}}},
	{"name": "error", "description": "Always fails.", "inputSchema": object{"type": "object"}},
}

// wait is the result of slow: seconds until there is one.
type wait int

// tool calls a tool. Arguments that are missing are for the model to mend, so they are a result.
func (s *Server) tool(name string, p *params) (any, *mcp.Error) {
	switch args := p.Arguments; name {
	case "echo":
		if args.Text == nil {
			return text(`the argument "text" must be a string`, true), nil
		}
		return text(*args.Text, false), nil
	case "time":
		now := s.Now
		if now == nil {
			now = time.Now
		}
		return text(now().UTC().Format(time.RFC3339), false), nil
	case "slow":
		seconds := usualSeconds
		if args.Seconds != nil {
			seconds = *args.Seconds
		}
		if seconds < 1 || seconds > maxSeconds {
			return text(fmt.Sprintf(`the argument "seconds" must be from 1 to %d`, maxSeconds), true), nil
		}
		return wait(seconds), nil
	case "error":
		return text("This tool always fails.", true), nil
	}
	return nil, mcp.UnknownTool(name)
}

// text is the result of a tool that says something.
func text(s string, failed bool) object {
	return object{"content": []object{{"type": "text", "text": s}}, "isError": failed}
}
