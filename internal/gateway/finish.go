package gateway

import (
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/metrics"
)

// Finish settles the call: record, metrics, log line, memory, and the end of
// the upstream request; only the first time. An answer in one piece is written
// after it: who has read the answer finds its row, and its place free. The
// handler defers it, so it also runs when the handler panics; a call whose
// outcome nobody noted is the gateway's own failure.
func (c *Call) Finish() {
	if c.finished {
		return
	}
	c.finished = true
	if c.watch != nil {
		c.watch.Stop()
	}
	c.stopDraining()
	c.entry.Cancel(nil)
	if !c.ended {
		c.Fail(apierror.New(apierror.Internal, "the call ended without an outcome"))
	}
	r := c.Record
	r.Latency = c.gateway.now().Sub(c.begun)
	c.settleLimits()
	c.gateway.state.Metrics.Ended(metrics.Call{
		Route: r.Route, Provider: r.Provider, Model: c.metricModel(), Code: r.Code, Status: r.Status,
		Duration: r.Latency, FirstToken: r.FirstToken, Prompt: r.PromptTokens, Completion: r.CompletionTokens,
	})
	c.writeLog() // first: whoever finds the row finds the line
	c.settle()
}

// settle leaves the record and lets go of all that the call held.
func (c *Call) settle() {
	if c.stored || c.Record.Code != "" {
		c.gateway.log.Append(c.Record)
	}
	if c.buffer != nil {
		giveBuffer(c.buffer)
	}
	c.giveMemory(0)
	c.gateway.calls.Remove(&c.entry)
}

// metricModel names a model only when the catalog knows it: a label's values
// must not be a caller's choice.
func (c *Call) metricModel() string {
	if c.model.Known {
		return c.Record.Model
	}
	return ""
}

// writeLog writes the one line of the call: Info, or Error where an operator
// must act (our own bug, a credential the provider refuses). The names of the
// fields are what an operator greps for; docs/operations.md lists them.
func (c *Call) writeLog() {
	level := zapcore.InfoLevel
	switch apierror.Code(c.Record.Code) {
	case apierror.Internal, apierror.UpstreamAuth, apierror.UpstreamQuota, apierror.LedgerUnavailable:
		level = zapcore.ErrorLevel
	}
	entry := c.gateway.logger.Check(level, "call")
	if entry == nil {
		return
	}
	r := c.Record
	room := logFields.Get().(*[]zap.Field)
	fields := append((*room)[:0],
		zap.String("request_id", r.RequestID),
		zap.String("generation_id", r.ID),
		zap.String("key", r.Key),
		zap.String("tenant", r.Tenant),
		zap.String("route", r.Route),
		zap.Int("status", r.Status),
		zap.String("code", r.Code),
		zap.Duration("duration", r.Latency),
	)
	if r.Model != "" {
		fields = append(fields,
			zap.String("model", clip(r.Model)),
			zap.String("provider", r.Provider),
			zap.Bool("stream", r.Stream),
			zap.Int64("tokens_in", r.PromptTokens),
			zap.Int64("tokens_out", r.CompletionTokens),
			zap.String("upstream_id", r.UpstreamID),
		)
	}
	if r.OutputCap > 0 {
		fields = append(fields, zap.Int64("output_cap", r.OutputCap))
	}
	if len(c.redacted) > 0 {
		fields = append(fields, zap.Strings("redacted", c.redacted))
	}
	if r.Workstation != "" {
		fields = append(fields, zap.String("workstation", clip(r.Workstation)))
	}
	if r.FirstToken > 0 {
		fields = append(fields, zap.Duration("first_token", r.FirstToken.Round(time.Microsecond)))
	}
	if r.ClientRequestID != "" {
		fields = append(fields, zap.String("client_request_id", r.ClientRequestID))
	}
	if c.cause != nil {
		fields = append(fields, zap.String("cause", c.gateway.redactor.Text(c.cause.Error())))
	}
	entry.Write(fields...)
	clear(fields)
	*room = fields
	logFields.Put(room)
}

// logFields are used again: zap encodes a line before Write returns.
var logFields = sync.Pool{New: func() any { f := make([]zap.Field, 0, 20); return &f }}

// maxLoggedModel bounds a caller's text in the log, in bytes.
const maxLoggedModel = 200

func clip(s string) string {
	if len(s) > maxLoggedModel {
		return s[:maxLoggedModel]
	}
	return s
}
