package gateway

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Call is the life of one request with a valid key: Begin, Admit, Send,
// Finish. It is used by one goroutine, except where a method says otherwise.
//
// Whatever happens, Finish has an effect exactly once (the handler defers it)
// and leaves one record, one log line and one count.
type Call struct {
	Credential keys.Credential
	Record     *activity.Record // by itself: it waits to be written when the call is gone

	gateway  *Gateway
	running  running // set by Begin
	begun    time.Time
	asked    string // the model's name as the caller wrote it; the record has it without secrets
	held     int64  // bytes of body memory
	buffer   []byte // the body as it was received; nil once Send has it
	model    catalog.Model
	provider *provider.Provider

	read     bool        // the request's body, to its end
	answered bool        // the provider's header is there
	answer   io.Reader   // the provider's answer, unguarded
	watch    *time.Timer // runs expire after too long a wait, for the client or the provider

	mu      sync.Mutex               // guards the following, which expire sees
	reading *http.ResponseController // while the request's body is read
	late    bool                     // that read was interrupted
	until   time.Time                // when what is waited for is overdue; zero: nothing is waited for
	silent  context.CancelCauseFunc  // while the provider is waited for
	linger  *time.Timer              // runs when the client has left and the answer is read on
	over    bool                     // the call has finished

	unwatch func() bool // stops waiting for the client to leave; nil without draining

	quota      quota // what it has of its limits
	guards     *guardrail.Set
	redacted   []string // classes of what guardrails took out
	seen       seen     // of the answer
	chat       bool     // the operation is chat
	translated bool     // it is a Responses call, and the provider gets a chat
	refs       readRefs // of the body as it is now
	keptState  bool     // it refers to state whose size nobody knows
	keptLong   bool     // what it writes to a provider's cache is kept for an hour
	hostedTool string

	cause    error // of a failure, for the log
	ended    bool  // an outcome is known
	finished bool
	stored   bool // success leaves a record too
	usage    openai.Usage
	counted  bool           // usage came from the provider
	later    int            // events after it
	latest   bool           // it came in the last event
	sent     *provider.Body // nil before Send
}

// Route describes the request to its record.
type Route struct {
	Name   string // "POST /v1/chat/completions"
	Family string // "openai" or "openrouter"
	// Recorded calls leave a record when they succeed, too.
	Recorded bool
}

// IDs are the names of one request: RequestID (ours, x-request-id),
// GenerationID (ours, the record's), Client (what the client calls it).
type IDs struct {
	RequestID, GenerationID, Client string
}

// Authenticate finds the caller; the error is the one refusal for every kind
// of bad key.
func (g *Gateway) Authenticate(secret string) (keys.Credential, error) {
	credential, err := g.keyring.Authenticate(secret, g.now())
	if err != nil {
		return keys.Credential{}, apierror.New(apierror.InvalidAPIKey,
			"the API key is missing or not valid: send a gateway key as \"Authorization: Bearer <key>\"")
	}
	return credential, nil
}

// Begin opens the call of an authenticated caller. It fails only when the
// configuration is closed and its State gone: the client shall come again.
func (g *Gateway) Begin(credential keys.Credential, route Route, ids IDs) (*Call, error) {
	now := g.now()
	c := &Call{
		Credential: credential,
		gateway:    g,
		begun:      now,
		stored:     route.Recorded,
		Record: &activity.Record{
			ID:              ids.GenerationID,
			RequestID:       ids.RequestID,
			ClientRequestID: g.redactor.Name(ids.Client),
			CreatedAt:       now,
			Tenant:          credential.Tenant,
			Key:             credential.Name,
			KeyHash:         credential.Hash,
			Family:          route.Family,
			Route:           route.Name,
			UsageSource:     activity.UsageNone,
		},
	}
	if !g.calls.add(&c.running) {
		return nil, apierror.New(apierror.ShuttingDown, "the configuration of this connection was replaced; try again on a new connection")
	}
	return c, nil
}

// Require refuses a key that lacks the scope.
func (c *Call) Require(scope keys.Scope) error {
	if c.Credential.Has(scope) {
		return nil
	}
	return apierror.New(apierror.InsufficientScope, "the key %q has no scope %s, which this route needs", c.Credential.Name, scope)
}

// Admit finds the model, its provider for the operation and its limits, and
// notes who they are in the record. Nothing has been sent when it refuses.
func (c *Call) Admit(ctx context.Context, op provider.Operation, model string) error {
	c.asked, c.Record.Model = model, model
	found, p, err := c.gateway.resolve(ctx, c.Credential.Key, op, model)
	if !found.Known { // any text may stand here; a key does where a setting was filled in wrongly
		c.Record.Model = c.gateway.redactor.Name(model)
		if c.Record.Model != model && (err == nil || apierror.From(err).Code == apierror.ModelNotFound) {
			return apierror.New(apierror.ModelNotFound, "the model's name holds a key; send the key in the Authorization header only").WithParam("model")
		}
	}
	if err != nil {
		return err
	}
	c.model, c.provider, c.chat = found, p, op == provider.Chat
	c.translated = op == provider.Responses && p.Translate != nil
	c.Record.Provider, c.Record.UpstreamModel = p.Name, found.Name
	c.quota.limit(c.gateway.limits.matching(model))
	c.keptLong = found.Price != nil && found.Price.CacheHour.Known && request.AsksHourCache(c.buffer)
	return c.admitSize()
}

// Model is the model's name as the caller wrote it: what answers are named by.
func (c *Call) Model() string { return c.asked }

// SetWorkstation notes the name of the workstation that the call is about.
func (c *Call) SetWorkstation(name string) { c.Record.Workstation = c.gateway.redactor.Name(name) }

// Provider is the admitted call's provider.
func (c *Call) Provider() *provider.Provider { return c.provider }

// UpstreamModel is the admitted model's name at its provider.
func (c *Call) UpstreamModel() string { return c.model.Name }

// FirstToken notes the moment of the first event of a stream.
func (c *Call) FirstToken() {
	if c.Record.FirstToken == 0 {
		c.Record.FirstToken = max(c.gateway.now().Sub(c.begun), 1)
	}
}

// Summarise notes what the provider's answer said of itself, also when it
// ended badly: tokens that were spent are spent.
func (c *Call) Summarise(s openai.Summary) {
	c.Record.UpstreamID = s.UpstreamID
	c.Record.FinishReason = s.Finish
	c.Record.NativeFinishReason = s.NativeFinish
	c.seen.said = c.seen.said || s.Text
	if s.HasUsage && !c.latest {
		c.usage, c.counted, c.later = s.Usage, true, s.Later
	}
}

// UseOf notes what an event of the provider's says was used that no client gets
// to see, because of what the answer says.
func (c *Call) UseOf(event []byte) {
	c.seen.said = true
	if u, ok := openai.EventUsage(event); ok {
		c.usage, c.counted, c.later, c.latest = u, true, 0, true
	}
}

// Succeed notes a whole answer of the given status.
func (c *Call) Succeed(status int) {
	c.Record.Status, c.ended = status, true
}

// Fail notes the refusal or failure that the caller was told of. In the middle
// of a stream the wire said 200; the record says what became of it.
func (c *Call) Fail(e *apierror.Error) {
	c.Record.Code, c.cause, c.ended = string(e.Code), e.Cause, true
	c.Record.Status = e.HTTPStatus()
	if e.Code == apierror.ClientGone {
		c.Record.Status = apierror.StatusClientGone
	}
}
