package request

import (
	"sync"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// writeLog writes the one line of the request: Info, or Error where an operator must act (our own
// bug, a credential that the provider refuses), or Debug for what pages read. Operators search for the
// names of the fields; docs/metrics.md lists them.
func (o *Outcome) writeLog(d *Deps) {
	level := zapcore.InfoLevel
	if o.quiet {
		level = zapcore.DebugLevel
	}
	switch apierror.Code(o.Record.Code) {
	case apierror.Internal, apierror.UpstreamAuth, apierror.UpstreamQuota, apierror.LedgerUnavailable:
		level = zapcore.ErrorLevel
	}
	entry := d.Logger.Check(level, "call")
	if entry == nil {
		return
	}
	r := o.Record
	pooled := logFields.Get().(*[]zap.Field)
	fields := append((*pooled)[:0],
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
		model := r.Model
		if !o.KnownModel {
			model = d.Redactor.Name(model)
		}
		fields = append(fields,
			zap.String("model", clip(model)),
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
	if len(o.Redacted) > 0 {
		fields = append(fields, zap.Strings("redacted", o.Redacted))
	}
	if len(o.Dropped) > 0 {
		fields = append(fields, zap.Strings("dropped_tools", o.Dropped))
	}
	if len(o.LeftOut) > 0 {
		fields = append(fields, zap.Strings("left_out", o.LeftOut))
	}
	if r.Workstation != "" {
		fields = append(fields, zap.String("workstation", clip(d.Redactor.Name(r.Workstation))))
	}
	if r.FirstToken > 0 {
		fields = append(fields, zap.Duration("first_token", r.FirstToken.Round(time.Microsecond)))
	}
	if r.User != "" {
		fields = append(fields, zap.String("user", d.Redactor.Name(r.User)))
	}
	if r.TraceID != "" {
		fields = append(fields, zap.String("trace_id", r.TraceID))
	}
	if r.ClientRequestID != "" {
		fields = append(fields, zap.String("client_request_id", d.Redactor.Name(r.ClientRequestID)))
	}
	if o.cause != nil {
		fields = append(fields, zap.String("cause", d.Redactor.Text(o.cause.Error())))
	}
	entry.Write(fields...)
	clear(fields)
	*pooled = fields
	logFields.Put(pooled)
}

// logFields are used again: zap encodes a line before Write returns.
var logFields = sync.Pool{New: func() any { f := make([]zap.Field, 0, 20); return &f }}

// maxLogged bounds a caller's text in the log, in bytes.
const maxLogged = 200

func clip(s string) string { return s[:min(len(s), maxLogged)] }
