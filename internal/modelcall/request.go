package modelcall

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/owners"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/tracing"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
)

// Deps are the parts of a gateway that its requests use. They do not change while requests run.
type Deps struct {
	Models      Models
	Limits      *policy.Limits
	Guardrails  *policy.Guardrails
	Rates       limits.Rates
	Concurrency *limits.ConcurrencyLimiter
	Ledger      limits.Ledger
	Exhausted   *policy.ExhaustedBudgets
	Owners      owners.Owners
	Health      *failover.Health

	Uploads  upload.Config
	Answers  *memory.Semaphore // for large answers of providers
	Timeouts Timeouts
	InFlight *inflight.Set

	Activity activity.Log
	Metrics  *metrics.Metrics
	Redactor *redact.Redactor
	Logger   *zap.Logger
	Sampled  func() *zap.Logger // for warnings that calls could repeat without end
	Now      func() time.Time

	// WarnOfDemo warns once of a built-in part that serves more than this machine.
	WarnOfDemo func(what string)
}

// Caller is the holder of a valid key.
type Caller struct {
	keys.Credential
	Secret string // the key as it was sent, to be taken out of provider text; "" if it was not
	// SignedIn is the SHA-256, in hex, of the secret with which a caller without Secret has signed in.
	SignedIn string
	// User is who uses the key, if a single sign-on has said so; else "".
	User string
	// Limits are those of a key that was made at run time. Nil: the configuration has them.
	Limits *policy.KeyLimits
}

// SecretHash is the SHA-256 of the caller's secret, in hex. It is not Hash for a key made at run time
// whose secret was replaced.
func (c *Caller) SecretHash() string {
	if c.Secret == "" {
		return c.SignedIn
	}
	sum := sha256.Sum256([]byte(c.Secret))
	return hex.EncodeToString(sum[:])
}

// Route describes a request to its record.
type Route struct {
	Name   string // "POST /v1/chat/completions"
	Family string // "openai" or "openrouter"
	// Recorded requests leave a record when they succeed, too.
	Recorded bool
	// Quiet requests leave no record when they fail, either, and a line in the log at debug only: pages
	// of the console send them again and again.
	Quiet bool
}

// IDs are the names of one request: RequestID (ours, x-request-id), GenerationID (ours, the
// record's), Client (the client's own).
type IDs struct {
	RequestID, GenerationID, Client string
}

// Request is one request with a valid key, from Begin to Finish. It is used by one goroutine.
type Request struct {
	Caller
	Outcome
	Upload upload.Upload

	deps     *Deps
	w        http.ResponseWriter
	r        *http.Request
	record   activity.Record // that of the Outcome
	entry    inflight.Entry
	watch    watchdog.Timer
	call     *call // of a model call; nil otherwise
	finished bool
}

// Begin opens the request of an authenticated caller; Finish must be called on it. It fails only if
// the configuration was replaced and what it used is closed: the client must use a new connection.
func Begin(d *Deps, w http.ResponseWriter, r *http.Request, caller Caller, route Route, ids IDs) (*Request, error) {
	now := d.Now()
	q := &Request{
		Caller: caller, deps: d, w: w, r: r,
		Outcome: Outcome{begun: now, recorded: route.Recorded, quiet: route.Quiet},
		record: activity.Record{
			ID:              ids.GenerationID,
			RequestID:       ids.RequestID,
			ClientRequestID: redact.Own(ids.Client, caller.Secret),
			CreatedAt:       now,
			Tenant:          caller.Tenant,
			Key:             caller.Name,
			KeyHash:         caller.Hash,
			User:            redact.Own(caller.User, caller.Secret),
			Family:          route.Family,
			Route:           route.Name,
			UsageSource:     activity.UsageNone,
		},
	}
	q.Record = &q.record
	q.trace = newTrace(r)
	q.record.TraceID = q.trace.id()
	q.Upload = upload.New(&d.Uploads, w, r, &q.watch)
	if !d.InFlight.Add(&q.entry) {
		return nil, apierror.New(apierror.ShuttingDown, "the configuration of this connection was replaced; try again on a new connection")
	}
	return q, nil
}

// Unauthenticated counts and logs a request without a valid key. It leaves no record, and its log is
// sampled: such requests cost an attacker nothing.
func Unauthenticated(d *Deps, route string, fields ...zap.Field) {
	d.Metrics.Unauthenticated(route)
	d.Sampled().Warn("request without a valid key", append(fields, zap.String("route", route))...)
}

// PrepareRefusal must be called before an error is written to a request whose body was not read to its
// end. See [upload.PrepareRefusal].
func PrepareRefusal(d *Deps, w http.ResponseWriter, r *http.Request) {
	upload.PrepareRefusal(w, r, d.Now())
}

// Require refuses a key that lacks the scope.
func (q *Request) Require(scope keys.Scope) error {
	if q.Has(scope) {
		return nil
	}
	e := apierror.New(apierror.InsufficientScope, "the key %q has no scope %s, which this route needs", q.Name, scope)
	e.RefusedBy = policy.RefusedBy(policy.KeySubject(q.Name), "scopes", "without "+scope.String())
	return e
}

// SetWorkstation notes the name of the workstation that the request is about.
func (q *Request) SetWorkstation(name string) { q.Record.Workstation = redact.Own(name, q.Secret) }

// TraceOrigin returns the origin of what follows the request, nil if it is not recorded.
func (q *Request) TraceOrigin() *tracing.Origin {
	if q.trace == nil {
		return nil
	}
	return tracing.OriginOf(q.trace.server)
}

// SetSession notes the id of the desktop session that the request is about.
func (q *Request) SetSession(id string) {
	if q.trace != nil {
		q.trace.session = id
	}
}

// ReadObject reads a body that may be empty, of at most limit bytes and the max_body of the key: a
// JSON object, each member of which read takes. It is for requests that are not model calls. The
// error is one of [upload.Upload.Read], a 400, or that of read.
func (q *Request) ReadObject(limit int64, read func(name string, value []byte) error) error {
	data, err := q.readBody(min(limit, q.deps.Limits.Readable(q.deps.Limits.Of(q.Key, q.Caller.Limits))))
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return err
	}
	var body jsonscan.Body
	defer body.Release()
	if err := invalidJSON(body.Parse(data)); err != nil {
		return err
	}
	for i, m := range body.Members() {
		if err := read(string(m.Key(data)), body.Value(i)); err != nil {
			return err
		}
	}
	return nil
}

// readBody reads the request's body as [upload.Upload.Read] does.
func (q *Request) readBody(limit int64) ([]byte, error) {
	began := q.deps.Now()
	data, err := q.Upload.Read(limit)
	q.phases.body += q.deps.Now().Sub(began)
	return data, err
}

// Serve runs a model call and writes its answer. An error was not written.
func (q *Request) Serve(op Operation, api API) error {
	c := q.newCall(op, api)
	err := c.run(q.r.Context())
	if err == nil && q.finished && !c.asked.Stream {
		q.call, *c = nil, call{}
		calls.Put(c)
	}
	return err
}

// calls are used again. Only the goroutine of its request has a pointer to a call that is over: what
// may run late on others (a timer, the drain, the transport) has the Request or the upstream, which
// are not used again. A stream has timers of its own, and the handler asks a call that failed for its
// rates: those are left to the collector, and so is a call that panics.
var calls = sync.Pool{New: func() any { return new(call) }}

func (q *Request) newCall(op Operation, api API) *call {
	d := q.deps
	key := d.Limits.Of(q.Key, q.Caller.Limits)
	c := calls.Get().(*call)
	*c = call{
		Request: q, op: op, api: api,
		admission: admission{deps: d, phases: &q.phases, trace: q.trace},
		charge:    charge{deps: d, record: q.Record, key: key},
		sealed:    sealed{deps: d, requestID: q.Record.RequestID},
	}
	c.tried = newTried(c)
	c.state = storedState{deps: d, caller: &q.Caller, op: op}
	q.call = c
	return c
}

// ShowRates sets the headers of the rates that a model call was counted against.
func (q *Request) ShowRates(h http.Header) {
	if q.call != nil {
		q.call.showRates(h)
	}
}

// shown returns a provider's text as the caller may see it.
func (q *Request) shown(from *provider.Endpoint) func(string) string {
	return func(text string) string { return redact.Text(text, append(from.Secrets(), q.Secret)...) }
}

// Finish ends the request: what a model call holds, record, metrics, log line and memory. Only the
// first Finish has an effect. An answer in one piece is written after it, so that a client that has
// read the answer finds its record and its concurrency slot free. The handler defers Finish, so that
// it also runs after a panic.
func (q *Request) Finish() {
	if q.finished {
		return
	}
	q.finished = true
	q.watch.Close()
	q.end(q.deps.Now())
	if q.call != nil {
		q.call.settle()
	}
	q.trace.finish(q)
	q.publish(q.deps)
	q.Upload.Close()
	q.deps.InFlight.Remove(&q.entry)
}

// onLoopback reports whether the request came in at an address that only this machine can reach.
func onLoopback(r *http.Request) bool {
	switch addr := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return addr.IP.IsLoopback()
	case *net.UDPAddr: // HTTP/3
		return addr.IP.IsLoopback()
	}
	return true
}
