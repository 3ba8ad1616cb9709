// Package toolcall is one request to an MCP server: [call.run] has its steps in their order.
//
//	handlers --Serve--> call.run --> MCP server
//	                       |
//	   permits spending guard session upstream
//
// What the protocol says is in package mcp, what a server is in package toolserver. JSON-RPC messages
// are relayed: members that the gateway does not know stay. A refusal is an answer of HTTP until the
// message is known, and then one of JSON-RPC. What a call holds is released in Settle, which runs once
// however the call ends.
package toolcall

import (
	"context"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/admission"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/toolserver"
)

// Deps are the parts of a gateway that requests to MCP servers use. Those that are exported do not
// change while requests run.
type Deps struct {
	*admission.Deps
	Servers *toolserver.Servers
	Owners  *owners.Owners
	Answers Memory // for large answers of servers

	// Heartbeat is the longest silence within a stream to the client; comments fill it. 0: any.
	Heartbeat time.Duration

	// Replaced is closed when another configuration has replaced this one.
	Replaced <-chan struct{}
	// Holds reports whether the key of a caller is still good, and still reaches the server.
	Holds func(caller *request.Caller, server string) bool
	// WarnOfDemo warns once of a built-in part that serves more than this machine.
	WarnOfDemo func(what string)

	streams streams
}

// Memory bounds what the process holds of answers, in bytes.
type Memory interface {
	// Wait takes bytes; it reports false if there are none in time, or ctx ends.
	Wait(ctx context.Context, bytes int64, atMost time.Duration) bool
	Give(bytes int64)
}

// Serve runs a request to the server with a name and writes its answer. An error was not written: it is
// one of HTTP. own adds the caller's own desktops to a context: only the built-in server of desktops gets
// them.
func Serve(d *Deps, q *request.Request, name string, own func(context.Context) context.Context) error {
	c := newCall(d, q, name)
	err := c.run(q.HTTP.Context(), own)
	if err != nil {
		err = c.refuse(err)
	}
	return err
}

func newCall(d *Deps, q *request.Request, name string) *call {
	c := &call{use: useOf(d, q), named: name, session: session{deps: d, req: q, server: name}}
	q.Work = c
	return c
}

// Settle implements [request.Work]: it ends what the call holds.
func (c *call) Settle() {
	c.req.Outcome.Record.AnswerBytes = c.upstream.received
	c.upstream.close()
	c.settle(c.upstream.served)
}

// isRequest reports whether the call has a message that wants an answer.
func (c *call) isRequest() bool { return c.message != nil && c.message.Kind == mcp.Request }

// hasEffect reports whether the request can do something at the server that must not be done twice.
func hasEffect(c *call) bool { return c.message != nil && c.message.Method == mcp.ToolsCall }

// open reports whether the answer is a stream that ends only when one of both leaves.
func (c *call) open() bool {
	return c.req.HTTP.Method == http.MethodGet || c.method != nil && c.method.Open
}
