package request

import (
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

// Outcome is what a request with a valid key leaves behind: one record, one log line and one count.
type Outcome struct {
	Record *activity.Record // of its Request; the log keeps it encoded
	Begun  time.Time
	Phases Phases

	Redacted   []string // classes of what guardrails took out of texts
	Dropped    []string // types of tools that a translation left out
	LeftOut    []string // likewise fields
	KnownModel bool     // the catalog has the model that the record names

	operation metrics.Operation
	asked     time.Time // when the first provider was asked; zero: none was

	exemplar  string // the trace that is recorded; "" for none
	recorded  bool   // a success leaves a record too
	quiet     bool   // a failure leaves none either
	ended     bool   // an outcome is known
	discarded bool
	cause     error
}

// Keep has a success leave a record of a request whose route leaves none by itself.
func (o *Outcome) Keep() { o.recorded = true }

// Discard has the request leave nothing: what it was for was not needed.
func (o *Outcome) Discard() { o.discarded, o.ended = true, true }

// Succeed notes that the whole answer was given, with this status.
func (o *Outcome) Succeed(status int) {
	o.Record.Status, o.ended = status, true
}

// Fail notes the refusal or failure that the caller got. In the middle of a stream the client has
// read 200; the record has the status of the failure.
func (o *Outcome) Fail(e *apierror.Error) {
	o.Record.Code, o.cause, o.ended = string(e.Code), e.Cause, true
	o.Record.RefusedBy = e.RefusedBy
	o.Record.Status = e.HTTPStatus()
	if e.Code == apierror.ClientGone {
		o.Record.Status = apierror.StatusClientGone
	}
}

// JoinTrace notes the trace that a caller names in a traceparent (W3C Trace Context, section 3.2),
// unless the request is in one already. The rows of a run share it, also where nothing is traced. Only
// a valid one counts.
func (o *Outcome) JoinTrace(parent string) {
	if r := o.Record; r.TraceID == "" {
		r.TraceID = traceOf(parent)
	}
}

// Asked notes that a provider is asked for an operation. Both have the names of spans.
func (o *Outcome) Asked(operation, provider string, now time.Time) {
	o.operation.Name, o.operation.Provider = operation, provider
	if o.asked.IsZero() {
		o.asked = now
	}
}

// FirstEvent notes that the first event of a stream has come.
func (o *Outcome) FirstEvent(now func() time.Time) {
	if o.Record.FirstToken == 0 {
		o.Record.FirstToken = max(now().Sub(o.Begun), 1)
		o.Record.Overhead = o.Phases.overhead(o.Record.FirstToken)
	}
}

// end notes how long the request took. One without an outcome is the gateway's own failure, such as
// a panic.
func (o *Outcome) end(now time.Time) {
	if !o.ended {
		o.Fail(apierror.New(apierror.Internal, "the call ended without an outcome"))
	}
	r := o.Record
	r.Latency, r.Queued = now.Sub(o.Begun), o.Phases.Queued
	if !o.asked.IsZero() {
		o.operation.Duration = now.Sub(o.asked)
	}
	if r.FirstToken == 0 {
		r.Overhead = o.Phases.overhead(r.Latency)
	}
}

// publish counts the request, logs it and keeps its record.
func (o *Outcome) publish(d *Deps) {
	r := o.Record
	if o.discarded {
		return
	}
	d.Metrics.Ended(metrics.Call{
		Route: r.Route, Provider: r.Provider, Model: o.metricModel(), Tenant: r.Tenant, Code: r.Code, Status: r.Status,
		Duration: r.Latency, FirstToken: r.FirstToken, Overhead: r.Overhead, TraceID: o.exemplar,
		Prompt: r.PromptTokens, Completion: r.CompletionTokens, Units: r.Units, Counted: r.UsageSource == activity.UsageProvider,
		Method: r.Method, IsError: r.IsError, Sent: r.Attempts > 0, Operation: o.operation,
		CostNano: r.CostNano, Unpriced: !r.Priced && r.UsageSource != activity.UsageNone,
	})
	o.writeLog(d) // before the record: a reader who finds the row finds the line
	if o.recorded || r.Code != "" && !o.quiet {
		d.Activity.Append(r)
	}
}

// metricModel returns the model's name if the catalog has it: the values of a label must not be a
// caller's choice.
func (o *Outcome) metricModel() string {
	if o.KnownModel {
		return o.Record.Model
	}
	return ""
}
