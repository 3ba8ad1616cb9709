// Package demo is the built-in MCP server to try a gateway with. It needs no network and no account.
//
//	client := http.Client{Transport: demo.New(time.Now)}
//
// It has these tools:
//
//   - echo returns its text.
//   - time returns the time in UTC.
//   - slow answers after some seconds, by a stream of events, with progress if the caller asked for
//     it. It stops when the caller leaves.
//   - error always fails.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp/builtin"
)

// maxSeconds bounds what slow waits, and usualSeconds is its default.
const (
	maxSeconds   = 30
	usualSeconds = 3
)

// arguments are those of all tools.
type arguments struct {
	Text    *string
	Seconds *int
}

// New returns the server. Now is the clock of the tool time.
func New(now func() time.Time) *builtin.Server {
	tool := func(name, description, schema string, call func(arguments) builtin.Result) builtin.Tool {
		return builtin.Tool{Name: name, Description: description, Schema: schema, ReadOnly: true,
			Call: func(_ context.Context, args json.RawMessage) (builtin.Result, *mcp.Error) {
				var read arguments
				if args != nil && json.Unmarshal(args, &read) != nil {
					return builtin.Result{}, builtin.BadParams()
				}
				return call(read), nil
			}}
	}
	return &builtin.Server{Name: "gatehouse-demo", Instructions: "Tools to try a gateway with: echo, time, slow and error.", Tools: []builtin.Tool{
		tool("echo", "Returns the text.", `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`, func(a arguments) builtin.Result {
			if a.Text == nil {
				return builtin.Text(`the argument "text" must be a string`, true)
			}
			return builtin.Text(*a.Text, false)
		}),
		tool("time", "Returns the time in UTC.", `{"type":"object"}`, func(arguments) builtin.Result {
			return builtin.Text(now().UTC().Format(time.RFC3339), false)
		}),
		tool("slow", "Answers after some seconds.",
			fmt.Sprintf(`{"type":"object","properties":{"seconds":{"type":"integer","minimum":1,"maximum":%d,"default":%d}}}`, maxSeconds, usualSeconds),
			func(a arguments) builtin.Result {
				seconds := usualSeconds
				if a.Seconds != nil {
					seconds = *a.Seconds
				}
				if seconds < 1 || seconds > maxSeconds {
					return builtin.Text(fmt.Sprintf(`the argument "seconds" must be from 1 to %d`, maxSeconds), true)
				}
				r := builtin.Text(fmt.Sprintf("That took %d s.", seconds), false)
				r.Seconds = seconds
				return r
			}),
		tool("error", "Always fails.", `{"type":"object"}`, func(arguments) builtin.Result { return builtin.Text("This tool always fails.", true) }),
	}}
}
