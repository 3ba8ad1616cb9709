package toolcall

import (
	"context"
	"net/http"
	"strconv"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// relay sends the request to the server, and its answer to the client.
func (c *call) relay(ctx context.Context) error {
	u := &c.upstream
	u.deps, u.req, u.server, u.open = c.deps, c.req, c.server, c.open()
	if u.open {
		leave, err := c.deps.streams.enter(c.req.Caller.Hash)
		if err != nil {
			return err
		}
		defer leave()
	}
	u.begin(ctx)
	request.NoteGuesses(c.req, c.server.Secrets(), c.body)
	if u.open {
		go watch(u.ctx, &c.session, u.cancel)
	}
	resp, err := u.send(headerOf(c.req.HTTP, c.server, c.session.id), c.body, !hasEffect(c))
	if c.body = nil; err != nil {
		return u.note(err)
	}
	defer func() { _ = resp.Body.Close() }()
	return u.note(c.deliver(ctx, resp))
}

// deliver gives the client an answer whose header has come.
func (c *call) deliver(ctx context.Context, resp *http.Response) error {
	switch status := resp.StatusCode; {
	case status == http.StatusOK && (c.isRequest() || c.req.HTTP.Method == http.MethodGet):
		return c.answer(ctx, resp)
	case status < http.StatusMultipleChoices && !c.isRequest() && c.req.HTTP.Method != http.MethodGet:
		return c.accepted(status)
	case status == http.StatusNotFound && c.session.id != "":
		c.session.ended()
		return errNoSession()
	case (status == http.StatusBadRequest || status == http.StatusNotFound) && c.isRequest():
		return c.rejected(ctx, resp)
	}
	return c.upstream.refusal(resp)
}

// accepted is the answer to what has none: a notification, a client's response, the end of a session.
func (c *call) accepted(status int) error {
	if c.message != nil {
		status = http.StatusAccepted
	} else {
		c.session.ended()
	}
	c.req.Outcome.Succeed(status)
	c.req.Finish()
	c.req.Writer.WriteHeader(status)
	return nil
}

// answer forwards the answer to a request.
func (c *call) answer(ctx context.Context, resp *http.Response) error {
	answers, err := mcp.NewReader(resp.Header, resp.Body, int(c.server.MaxResult))
	if err != nil || !answers.Stream && !c.isRequest() {
		return c.upstream.unreadable(err)
	}
	defer answers.Release()
	answers.Memory = &c.upstream
	id, err := c.session.shown(resp.Header, c.method != nil && c.method.Name == "initialize")
	if err != nil {
		return err
	}
	h := c.req.Writer.Header()
	if id != "" {
		h[mcp.HeaderSession] = []string{id}
	}
	if version := resp.Header[mcp.HeaderVersion]; len(version) == 1 {
		h[mcp.HeaderVersion] = version
	}
	if answers.Stream {
		return (&stream{call: c, answers: answers}).forward(ctx)
	}
	event, err := answers.Next()
	if err != nil {
		return c.upstream.unreadable(err)
	}
	out, final, err := c.shown(ctx, event.Message)
	if err != nil {
		return err
	}
	if !final {
		return c.upstream.unreadable(mcp.ErrNoMessage)
	}
	c.req.Outcome.Succeed(http.StatusOK)
	c.writeJSON(http.StatusOK, out)
	return nil
}

// rejected forwards the error with which a server refused a request of HTTP: clients find out by it
// which version the server has. What is no such error becomes one of the gateway with the same status.
func (c *call) rejected(ctx context.Context, resp *http.Response) error {
	refusal := c.upstream.refusal(resp)
	answers, err := mcp.NewReader(resp.Header, resp.Body, int(c.server.MaxResult))
	if err != nil || answers.Stream {
		return refusal
	}
	answers.Memory = &c.upstream
	event, err := answers.Next()
	if err != nil {
		return refusal
	}
	out, final, err := c.shown(ctx, event.Message)
	if err != nil || !final {
		return refusal
	}
	c.req.Outcome.Fail(refusal)
	c.writeJSON(resp.StatusCode, out)
	return nil
}

// shown returns the text of a message of the server as the caller may see it. Final reports whether it
// answers the request.
func (c *call) shown(ctx context.Context, text []byte) (out []byte, final bool, err error) {
	m, err := mcp.ParseAnswer(text)
	if err != nil {
		return nil, false, c.upstream.unreadable(err)
	}
	out = text
	if m.Kind == mcp.Response {
		final = c.isRequest() && m.Answers(c.message)
		if !final && !c.resumes() {
			return nil, false, lasting(c.upstream.asked().Broken(nil, "answered another request than this one"))
		}
		if final {
			c.req.Outcome.Record.IsError = m.IsError()
		}
		if out, err = m.Filter(c.allowsTool); err != nil {
			return nil, false, c.upstream.unreadable(err)
		}
	}
	judged, err := c.guard.Answer(ctx, out)
	if err != nil {
		return nil, false, err
	}
	if judged != nil {
		out = judged
	}
	return request.Conceal(c.req, out, c.server.Secrets()), final, nil
}

// resumes reports whether the request continues a stream that was cut, of which it may get answers to
// earlier requests.
func (c *call) resumes() bool {
	return c.req.HTTP.Method == http.MethodGet && c.req.HTTP.Header.Get(mcp.HeaderLastEvent) != ""
}

// writeJSON writes an answer in one piece. Whether the client has got it, the request's context shows.
func (c *call) writeJSON(status int, body []byte) {
	h := c.req.Writer.Header()
	h["Content-Type"] = jsonContentType
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Cache-Control"] = noStore
	c.req.Writer.WriteHeader(status)
	_ = c.req.Write(body)
}

var (
	jsonContentType        = []string{"application/json"}
	eventStreamContentType = []string{"text/event-stream"}
	noStore                = []string{"no-store"}
	noBuffering            = []string{"no"}
)

// note tells the health of the server how the request ended, once.
func (u *upstream) note(err error) error {
	if u.noted {
		return err
	}
	u.noted = true
	if err == nil {
		u.server.Succeeded()
		return nil
	}
	switch failure := apierror.From(err); failure.Code {
	case apierror.UpstreamError, apierror.UpstreamTimeout, apierror.UpstreamAuth, apierror.UpstreamOverloaded:
		// Else it answered and an option refused that, or it may have no stream of its own and says so oddly.
		if failure.RefusedBy == "" && u.req.HTTP.Method != http.MethodGet {
			u.server.Failed(string(failure.Code))
		}
	case apierror.UpstreamRejected, apierror.UpstreamRateLimited:
		u.server.Succeeded()
	}
	return err
}
