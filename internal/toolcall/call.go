package toolcall

import (
	"bytes"
	"cmp"
	"context"
	"mime"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// call is a request to an MCP server: its steps, and a part for each subject that does the work. No
// part knows the call.
type call struct {
	use          // its server is nil before reach
	named string // the server in the path

	era     mcp.Era
	body    []byte
	message *mcp.Message // nil of GET and DELETE, and before it is known
	method  *mcp.Method  // nil likewise
	session session

	upstream upstream
}

// run takes the steps of a request. After a refusal nothing later runs. An error is what the client
// must still be told; it is nil if an answer was written, which may be a failure in a stream.
func (c *call) run(ctx context.Context, own func(context.Context) context.Context) error {
	if err := c.reach(); err != nil { // 403 404: the page that asks, the server
		return err
	}
	if err := c.read(); err != nil { // 400 405 413 415 429: era and method of HTTP, the body
		return err
	}
	if err := c.parse(); err != nil { // 400 404: one message, headers that say the same, its method
		return err
	}
	if err := c.allow(ctx); err != nil { // 404 503: the tool, who owns the session
		return err
	}
	if err := c.enter(ctx); err != nil { // 429: rates and concurrency of key, tenant, gateway and server
		return err
	}
	if err := c.reserve(ctx); err != nil { // 402 503: the price of the tool
		return err
	}
	if err := c.judge(ctx); err != nil { // 400 413 422 503: guardrails
		return err
	}
	if c.server.Desktops {
		ctx = own(ctx)
	}
	return c.relay(ctx) // 400 404 429 502 503, or the answer
}

// reach finds the server. To a key that may not use it, it does not exist.
func (c *call) reach() error {
	if err := checkOrigin(c.req); err != nil {
		return err
	}
	s := c.deps.Servers.Named(c.named)
	if s == nil || !c.req.Caller.AllowsServer(s.Name) {
		e := apierror.New(apierror.NotFound, "the MCP server %q does not exist or this key may not use it", c.req.Caller.SafeName(c.named))
		if !c.req.Caller.AllowsServer(c.named) {
			e.RefusedBy = policy.RefusedBy(policy.KeySubject(c.req.Caller.Name), "mcp", "")
		}
		return e
	}
	of(&c.use, s, s.Name)
	if s.BuiltIn && !request.OnLoopback(c.req.HTTP) {
		c.deps.WarnOfDemo("the MCP server demo")
	}
	return nil
}

// read reads the body.
func (c *call) read() (err error) {
	r := c.req.HTTP
	era, _, unknown := mcp.EraOf(r.Header)
	c.era = era
	if r.Method != http.MethodPost {
		return c.checkMethod(unknown)
	}
	if media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media != "application/json" {
		return apierror.New(apierror.UnsupportedEncoding, "send the message with the header \"Content-Type: application/json\"")
	}
	if c.body, err = c.req.ReadBody(c.key.Caps.MaxBody()); err != nil {
		return policy.TooLarge(err, c.req.Caller.Name, c.key)
	}
	c.req.Outcome.Record.RequestBytes = int64(len(c.body))
	return nil
}

// checkMethod refuses GET and DELETE where there are no sessions.
func (c *call) checkMethod(unknown *mcp.Error) error {
	if method := c.req.HTTP.Method; c.era == mcp.Stateless || method == http.MethodHead {
		e := apierror.New(apierror.MethodNotAllowed, "%s is not possible here; use POST", method)
		e.Allow = []string{http.MethodPost}
		return e
	}
	if unknown != nil {
		return unknown
	}
	return nil
}

// parse reads the message. Its id is known from the first step on, so that errors can name it.
func (c *call) parse() error {
	r := c.req.HTTP
	if r.Method != http.MethodPost {
		c.req.Outcome.Record.Method = r.Method
		return nil
	}
	read, err := mcp.Read(r.Header, c.body)
	if c.message, c.method = read.Message, read.Row; c.message != nil {
		c.message.ID = bytes.Clone(c.message.ID) // it outlives the body
	}
	if err != nil {
		return err
	}
	c.req.Outcome.Record.Method = cmp.Or(c.method.Name, "response")
	c.req.Outcome.JoinTrace(c.message.Trace)
	return nil
}

// allow refuses a tool that the key may not call, as if it did not exist, and the session of another
// caller.
func (c *call) allow(ctx context.Context) error {
	if c.message != nil && c.message.Method == mcp.ToolsCall {
		c.req.Outcome.Record.Model = c.server.Name + "/" + c.req.Caller.SafeName(c.message.Name)
		if name := c.message.Name; !c.allowsTool(name) {
			e := apierror.New(apierror.ToolNotFound, "Unknown tool: %s", c.req.Caller.SafeName(name))
			e.RefusedBy = policy.RefusedBy(policy.KeySubject(c.req.Caller.Name), "mcp", c.server.Name)
			if !c.server.AllowsTool(name) {
				e.RefusedBy = policy.RefusedBy(policy.ServerSubject(c.server.Name), "tools", "")
			}
			return e
		}
	}
	if c.era == mcp.Stateless {
		return nil
	}
	return c.session.find(ctx)
}

// allowsTool reports whether server, tenant and key all let the tool be called. It is asked at each
// list and at each call.
func (c *call) allowsTool(name string) bool {
	return c.server.AllowsTool(name) && c.req.Caller.AllowsTool(c.server.Name, name)
}

// enter counts the request against the rates, and takes slots for one that is answered in time. Streams
// that stay open and what a client says in between take none: a call that waits for a client's answer
// would keep it out.
func (c *call) enter(ctx context.Context) error {
	if !c.isRequest() || c.open() {
		c.permits.CountOnly()
	}
	return c.use.enter(ctx)
}

// reserve takes the price of a tool from the budgets.
func (c *call) reserve(ctx context.Context) error {
	if c.message == nil || c.message.Method != mcp.ToolsCall {
		return nil
	}
	return c.use.reserve(ctx, c.message.Name)
}

// judge has the guardrails judge the whole message. If they take something out of it, the edited body
// replaces the one that was read.
func (c *call) judge(ctx context.Context) error {
	if !c.guarded() {
		return nil
	}
	if err := judgeHeader(ctx, &c.guard, c.req.HTTP.Header, c.server.Forward); err != nil || c.body == nil {
		return err
	}
	redacted, err := c.guard.Request(ctx, c.body, false)
	if err != nil || redacted == nil {
		return err
	}
	if err := c.req.Upload.Reserve(cap(redacted)); err != nil { // the first body stays until the message is sent
		return err
	}
	c.body = redacted
	return nil
}
