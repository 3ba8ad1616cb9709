package modelcall

import (
	"bytes"
	"cmp"
	"context"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// Live is a call over a socket that others hold: a session with a model, or one answer in it.
// Their steps are those of [call.run], taken at different times:
//
//	session  Connect: slots of concurrency ... dispatch, to the first provider that opens a socket
//	part     Part: parse ... guardrails: what a client says in the session
//	answer   Hold: ... reserve, before it may begin; Begin: rates of requests; End: its usage
//
// The provider begins answers by itself when it hears somebody speak. So what the next one may use
// is reserved ahead of it. It is used by one goroutine at a time.
type Live struct {
	call   *call
	stream guardrail.Stream // judges the answer; nil before the first event
}

// Connect takes the steps of a session and opens its socket by dial. Nothing is charged for it. An
// error is a refusal.
func Connect(d *Deps, q *request.Request, api wire.API, dial wire.Dial) (*Live, error) {
	op := *wire.Realtime
	op.Dial = dial
	c := newCall(d, q, &op, api)
	c.charge.free = true
	c.permits.SlotsOnly()
	ctx := q.HTTP.Context()
	if err := c.enter(); err != nil { // 429: concurrency
		return nil, err
	}
	if err := look(ctx, c, enterNamed); err != nil {
		return nil, err
	}
	return &Live{call: c}, c.dispatch(ctx)
}

// Part takes the steps of a part of a session: of the session object, of a response or of an item.
// It returns the part as the target of the session gets it. An error is a refusal.
func Part(d *Deps, q *request.Request, api wire.API, target string) (edited []byte, err error) {
	c := newCall(d, q, wire.Realtime, api)
	c.charge.free = true
	if err := look(q.HTTP.Context(), c, anyBudget); err != nil {
		return nil, err
	}
	t, err := only(c, target)
	if err != nil {
		return nil, err
	}
	if field := c.op.Fields.Unknown(&c.body); field != "" && c.charge.key.Hard() && !c.charge.key.Unpriced {
		return nil, c.charge.unpriced("what %q will use cannot be known beforehand", field)
	}
	s, err := c.encode(t)
	if err != nil {
		return nil, err
	}
	return bytes.Join(s.Body, nil), nil
}

// Hold takes the steps of an answer in a session, up to its reservation, which is for what it would
// use at the target. An error is a refusal.
func Hold(d *Deps, q *request.Request, api wire.API, target string) (*Live, error) {
	return hold(d, q, wire.Realtime, api, target, withinBudgets, (*call).reserve)
}

// Owe is Hold for an answer that the provider has begun though none could be held: it must be
// cancelled, and what it used until then is charged, whatever the limits are.
func Owe(d *Deps, q *request.Request, api wire.API, target string) (*Live, error) {
	return hold(d, q, wire.Realtime, api, target, anyBudget, func(c *call, ctx context.Context) error { return c.charge.spending.Owe(ctx) })
}

func anyBudget(context.Context, *call) error { return nil }

// HoldTranscript is Hold for the transcript of what a caller says in a session.
func HoldTranscript(d *Deps, q *request.Request, api wire.API) (*Live, error) {
	return hold(d, q, wire.Transcript, api, "", withinBudgets, (*call).reserve)
}

func hold(
	d *Deps, q *request.Request, op *wire.Operation, api wire.API, target string,
	check func(context.Context, *call) error, reserve func(*call, context.Context) error,
) (*Live, error) {
	c := newCall(d, q, op, api)
	c.permits.CountOnly()
	ctx := q.HTTP.Context()
	if err := look(ctx, c, check); err != nil {
		return nil, err
	}
	t, err := only(c, target)
	if err != nil {
		return nil, err
	}
	t.allowed.account.storedState = op.Generates // its prompt is the conversation so far
	return &Live{call: c}, reserve(c, ctx)
}

// only leaves one of the targets, with "" the first.
func only(c *call, id string) (*target, error) {
	id = cmp.Or(id, c.to.targets[0].id)
	err := c.to.keep(func(t *target) error {
		if t.id == id {
			return nil
		}
		return apierror.New(apierror.ModelNotCallable, "the session is with another model").WithParam("model")
	})
	if err != nil {
		return nil, err
	}
	c.setTarget(c.to.targets[0])
	return c.to.targets[0], nil
}

// Target is the id of the target, for [Part] and [Hold].
func (l *Live) Target() string { return l.call.charge.target.id }

// Names are the name of the provider and those of the model: as the caller and as the provider
// calls it.
func (l *Live) Names() (provider, asked, model string) {
	t := l.call.charge.target
	return t.provider.Name, l.call.to.answersAs(t, l.call.asked.Model), t.model.Name
}

// Shown returns a text of the provider as the caller may see it.
func (l *Live) Shown(text string) string { return shown(l.call.req, l.call.charge.target)(text) }

// Output is the limit of an answer, in tokens, that the provider must be told; 0: it need not.
func (l *Live) Output() int64 {
	t := l.call.charge.target
	if most := t.model.MaxOutput; !t.allowed.setOutput || most > 0 && t.allowed.output >= most {
		return 0
	}
	return t.allowed.output
}

// Guarded reports whether guardrails read the session.
func (l *Live) Guarded() bool { return l.call.guard.Set != nil }

// Judged returns what the caller gets for an event after guardrails, and the refusal of one that is
// denied: then the answer must end. An event of a session, not of an answer, is judged by itself.
// The error is about an event that makes no sense.
func (l *Live) Judged(name string, event []byte) (frames [][]byte, refusal *apierror.Error, err error) {
	g := &l.call.guard
	if !l.Guarded() {
		return [][]byte{event}, nil, nil
	}
	if l.stream == nil || l.call.op.Dial != nil {
		if l.stream = g.Set.Stream(guardrail.Responses); l.stream == nil {
			return [][]byte{event}, nil, nil
		}
	}
	passed, verdict, err := l.stream.Push(openai.NewEvent([]byte(name), event))
	for _, e := range passed {
		frames = append(frames, e.AppendTo(nil))
	}
	if verdict != nil {
		refusal = g.Blocked(verdict)
	}
	return frames, refusal, err
}

// Begin begins an answer that was held, and counts it against rates of requests. The error is 429;
// the answer may go on all the same, and is charged.
func (l *Live) Begin() error {
	c, out := l.call, &l.call.req.Outcome
	out.Begun = c.deps.Now()
	out.Record.CreatedAt = out.Begun
	c.attempt = &attempt{alone: true, body: &c.body, upstream: upstream{
		deps: c.deps, request: c.req, trace: c.trace, target: c.charge.target, meter: meter{sent: out.Begun, live: true},
	}}
	noteAsked(c, c.charge.target)
	out.Record.Attempts++
	if !c.op.Generates { // a transcript
		return nil
	}
	if err := c.enter(); err != nil {
		return err
	}
	return c.permits.EnterNamed(c.req.HTTP.Context(), subjectsOf(c.to.limits)...)
}

// Piece notes a piece of an answer, with so many bytes of text.
func (l *Live) Piece(text int) {
	m := &l.call.attempt.upstream.meter
	m.events++
	m.written += int64(text)
	m.text = m.text || text > 0
	l.call.req.Outcome.FirstEvent(l.call.deps.Now)
}

// SetSound notes the length of the sound that a transcript is of, in milliseconds, for an estimate.
func (l *Live) SetSound(millis int64) { l.call.attempt.upstream.meter.heard = millis }

// End notes how an answer that has begun has ended. Without usage it is charged as one that was
// cut off, unless the provider refused to make it.
func (l *Live) End(s openai.Summary, refused bool) {
	l.call.attempt.upstream.meter.unbilled = refused
	l.call.attempt.summarize(s)
	if l.stream != nil {
		l.call.guard.Redacted(l.stream.Redacted())
	}
}

// connect opens the socket of a session at a target.
func connect(client context.Context, c *call, s *wire.Sending) delivery {
	u, q := &c.attempt.upstream, c.req
	u.meter.sent = u.deps.Now()
	u.ctx, u.cancel = u.drain.context(client, u.deps, q.Outcome.Record.RequestID)
	defer u.close()
	q.SetCancel(u.cancel)
	q.Watch.Start(u.waits.begin(true), u)
	q.Outcome.Record.Attempts++
	resp, err := c.op.Dial(u.ctx, u.target.endpoint.Handshake(u.requestOf(s, nil)))
	q.Watch.Stop()
	u.waited(u.meter.sent)
	if resp != nil {
		defer func() { _ = resp.Body.Close() }()
		u.status = resp.StatusCode
	}
	switch {
	case err == nil:
		c.attempt.succeed()
		return delivery{}
	case resp == nil || resp.StatusCode == http.StatusSwitchingProtocols: // to something else
		return failed(u.failure(err))
	}
	failure := providerError(resp, u.deps.Now(), c.attempt.shown(), c.attempt.provider())
	if lacksRoute(failure, resp.StatusCode) || resp.StatusCode < http.StatusMultipleChoices || resp.StatusCode == http.StatusUpgradeRequired {
		failure = askedProvider(c.attempt.provider()).Broken(err, "does not have the Realtime API over WebSocket")
		failure.Code = apierror.ModelNotCallable
	}
	return failed(failure)
}
