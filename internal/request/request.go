// Package request is any request of an authenticated caller: who it is, what is read of it, how long
// its parts took, and what it leaves behind in activity, log, metrics and trace.
//
//	Begin --> Require --> ReadBody, ReadObject --> Succeed or Fail --> Finish
//
// A request may hold [Work] that ends with it, such as a model call.
package request

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/inflight"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/redact"
	"github.com/gatehouse-proxy/gatehouse/internal/upload"
	"github.com/gatehouse-proxy/gatehouse/internal/watchdog"
)

// Deps are the parts of a gateway that its requests use. They do not change while requests run.
type Deps struct {
	Limits   *policy.Limits
	Uploads  upload.Config
	Write    time.Duration // how long a client may take nothing of its answer
	InFlight *inflight.Set

	Activity activity.Log
	Metrics  *metrics.Metrics
	Redactor *redact.Redactor
	Logger   *zap.Logger
	Sampled  func() *zap.Logger // for warnings that requests could repeat without end
	Now      func() time.Time
}

// Work is what a request holds while it runs.
type Work interface {
	// Settle releases it, after the outcome of the request is known and before it is recorded.
	Settle()
}

// Request is one request with a valid key, from Begin to Finish. It is used by one goroutine.
type Request struct {
	Caller  Caller
	HTTP    *http.Request
	Writer  http.ResponseWriter
	Upload  upload.Upload
	Outcome Outcome
	Extra   []byte         // a member that the body of a refusal gets besides its error; nil for none
	Trace   *Trace         // nil unless the request is recorded in a trace
	Watch   watchdog.Timer // of what the request waits for
	Work    Work           // nil for none

	deps     *Deps
	record   activity.Record // the Outcome's
	entry    inflight.Entry
	guessed  []string // see NoteGuesses
	finished bool
}

// Begin opens the request of an authenticated caller; Finish must be called on it. It fails only if
// the configuration was replaced and what it used is closed: the client must use a new connection.
func Begin(d *Deps, w http.ResponseWriter, r *http.Request, caller Caller, route Route, ids IDs) (*Request, error) {
	now := d.Now()
	q := &Request{
		Caller: caller, HTTP: r, Writer: w, Trace: newTrace(r), deps: d,
		Outcome: Outcome{Begun: now, recorded: route.Recorded, quiet: route.Quiet},
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
			Transport:       route.Transport,
			Connection:      route.Connection,
			UsageSource:     activity.UsageNone,
		},
	}
	q.Outcome.Record, q.Outcome.exemplar = &q.record, q.Trace.id()
	q.record.TraceID = q.Outcome.exemplar
	if parent := r.Header["Traceparent"]; len(parent) == 1 {
		q.Outcome.JoinTrace(parent[0])
	}
	q.Upload = upload.New(&d.Uploads, w, r, &q.Watch)
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
	if q.Caller.Has(scope) {
		return nil
	}
	e := apierror.New(apierror.InsufficientScope, "the key %q has no scope %s, which this route needs", q.Caller.Name, scope)
	e.RefusedBy = policy.RefusedBy(policy.KeySubject(q.Caller.Name), "scopes", "without "+scope.String())
	return e
}

// SetWorkstation notes the name of the workstation that the request is about, without any key that
// somebody took for it.
func (q *Request) SetWorkstation(name string) {
	q.Outcome.Record.Workstation = redact.Own(q.deps.Redactor.Name(name), q.Caller.Secret)
}

// Finished reports whether Finish has run.
func (q *Request) Finished() bool { return q.finished }

// SetCancel sets what interrupts the request when the gateway shuts down.
func (q *Request) SetCancel(cancel context.CancelCauseFunc) { q.entry.SetCancel(cancel) }

// ReadObject reads a body that may be empty, of at most limit bytes and the max_body of the key: a
// JSON object, each member of which read takes. It is for requests that are not model calls. The
// error is one of [upload.Upload.Read], a 400, or that of read.
func (q *Request) ReadObject(limit int64, read func(name string, value []byte) error) error {
	data, err := q.ReadWhole(limit)
	if err != nil || len(bytes.TrimSpace(data)) == 0 {
		return err
	}
	var body jsonscan.Body
	defer body.Release()
	if err := InvalidJSON(body.Parse(data)); err != nil {
		return err
	}
	for i, m := range body.Members() {
		if err := read(string(m.Key(data)), body.Value(i)); err != nil {
			return err
		}
	}
	return nil
}

// ReadWhole reads a body of at most limit bytes and the max_body of the key, as [upload.Upload.Read] does.
func (q *Request) ReadWhole(limit int64) ([]byte, error) {
	l := q.deps.Limits
	return q.ReadBody(min(limit, l.Readable(l.Of(q.Caller.Key, q.Caller.Limits))))
}

// ReadBody reads the body as [upload.Upload.Read] does.
func (q *Request) ReadBody(limit int64) ([]byte, error) {
	began := q.deps.Now()
	data, err := q.Upload.Read(limit)
	q.Outcome.Phases.Body += q.deps.Now().Sub(began)
	return data, err
}

// InvalidJSON is the refusal of a body that jsonscan refused, nil for a nil error.
func InvalidJSON(err error) error {
	if err == nil {
		return nil
	}
	refusal := apierror.New(apierror.InvalidJSON, "the request body is not acceptable JSON: %v", err)
	var syntax *jsonscan.SyntaxError
	if errors.As(err, &syntax) {
		refusal.Param = cmp.Or(syntax.In, syntax.Key)
	}
	return refusal
}

// Finish ends the request: the work that it holds, record, metrics, log line and memory. Only the
// first Finish has an effect. [Request.Write] writes an answer in one piece after it, so that a client
// that has read the answer finds its record and its concurrency slot free. The handler defers Finish,
// so that it also runs after a panic.
func (q *Request) Finish() {
	if q.finished {
		return
	}
	q.finished = true
	q.Watch.Close()
	q.Outcome.end(q.deps.Now())
	if q.Work != nil {
		q.Work.Settle()
	}
	q.Trace.finish(q)
	q.Outcome.publish(q.deps)
	q.Upload.Close()
	q.deps.InFlight.Remove(&q.entry)
}
