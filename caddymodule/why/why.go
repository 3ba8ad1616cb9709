// Package why explains one call or VNC session, or all those of a run: who made it, which providers were tried, where the time
// went, and, if it was refused, which option of the configuration did that and what to do.
//
//	e, err := why.Find(ctx, active, "req_6b0323ba40a3e7bbb2e4ed9b37f6b1a7")
//	err = e.Print(os.Stdout)
package why

import (
	"context"
	"fmt"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
)

// Explanation is one call or VNC session, or the run of a trace, with what its end means and how its limits stand now.
type Explanation struct {
	// Kind is call, tool (a request to an MCP server), session or run.
	Kind string `json:"kind"`
	// ID is the ID of the record: gen-… or vnc-…, or that of the trace.
	ID string `json:"id"`
	// RequestID is the X-Request-Id of the answer; "" for a run.
	RequestID string `json:"request_id"`
	// UpstreamID is the provider's id of the answer.
	UpstreamID string `json:"upstream_id,omitempty"`
	// ClientRequestID is the client's own id.
	ClientRequestID string `json:"client_request_id,omitempty"`
	// TraceID is the trace of the call.
	TraceID string `json:"trace_id,omitempty"`
	// CreatedAt is when it arrived.
	CreatedAt time.Time `json:"created_at"`
	// Key is the name of the key; "" for a run of several.
	Key string `json:"key"`
	// Tenant is the key's.
	Tenant string `json:"tenant"`
	// Route is the method and path.
	Route string `json:"route"`
	// Model is the name that was asked for.
	Model string `json:"model,omitempty"`
	// Provider is the last that was asked.
	Provider string `json:"provider,omitempty"`
	// Stream reports whether a stream was asked for.
	Stream bool `json:"stream,omitempty"`
	// Status is the HTTP status, 499 if the client had disconnected.
	Status int `json:"status"`
	// Code is the code of a refusal or failure.
	Code string `json:"code,omitempty"`
	// RefusedBy is the option of the configuration that refused, and its owner.
	RefusedBy string `json:"refused_by,omitempty"`
	// Meaning is what the code, or the end of a session, means.
	Meaning string `json:"meaning,omitempty"`
	// Advice is what to do.
	Advice string `json:"advice,omitempty"`
	// Attempts is how many requests were sent to providers.
	Attempts int `json:"attempts"`
	// Attempted has each of them, if the call had several targets or met a time limit.
	Attempted []Attempt `json:"attempted,omitempty"`
	// Skipped has the targets that were not asked for another reason than that one before them
	// answered.
	Skipped []Skipped `json:"skipped,omitempty"`
	// Time is where the time went.
	Time Times `json:"time"`
	// Usage is absent for a session, and for a call without a model.
	Usage *Usage `json:"usage,omitempty"`
	// Session is absent for a call.
	Session *Session `json:"session,omitempty"`
	// Run is there for a run only.
	Run *Run `json:"run,omitempty"`
	// Facts are fields that have no member of their own, by their names.
	Facts []Fact `json:"facts,omitempty"`
	// Until is since when commits are blocked; absent if they are not. A newer record with this id is then
	// not found.
	Until *time.Time `json:"activity_until,omitempty"`
	// Limits are the limits of the running configuration, now.
	Limits []gateway.Standing `json:"limits_now,omitempty"`
}

// Fact is a field of the row.
type Fact struct {
	// Name is what it is.
	Name string `json:"name"`
	// Value is its text.
	Value string `json:"value"`
}

// Attempt is one request to a provider.
type Attempt struct {
	// Target is "provider/model", with "@endpoint" if the provider has several.
	Target string `json:"target"`
	// Status is the provider's; absent without an answer.
	Status int `json:"status,omitempty"`
	// Code is the code of a failure.
	Code string `json:"code,omitempty"`
	// LatencyMS is how long it took, in milliseconds.
	LatencyMS float64 `json:"latency_ms"`
	// Meaning is what the code means.
	Meaning string `json:"meaning,omitempty"`
}

// Skipped is a target that was not asked.
type Skipped struct {
	// Target is "provider/model", with "@endpoint" if only one of several endpoints was not asked.
	Target string `json:"target"`
	// Code says why.
	Code string `json:"code"`
	// RefusedBy is the option of the configuration that decided it, and its owner, or the field of
	// the request.
	RefusedBy string `json:"refused_by,omitempty"`
	// Meaning is what the code means.
	Meaning string `json:"meaning,omitempty"`
}

// Times are the parts of a call's duration, in milliseconds. Those that are not known are absent.
type Times struct {
	// Total is until the last byte.
	Total float64 `json:"total_ms"`
	// Queued is the wait for a concurrency slot.
	Queued float64 `json:"queued_ms,omitempty"`
	// FirstToken is from the beginning until the first event of a stream.
	FirstToken float64 `json:"first_token_ms,omitempty"`
	// Overhead is the gateway's own part.
	Overhead float64 `json:"overhead_ms,omitempty"`
}

// Usage is the tokens of a call and what they cost.
type Usage struct {
	// Prompt is the tokens of the input.
	Prompt int64 `json:"prompt_tokens"`
	// Completion is the tokens of the output.
	Completion int64 `json:"completion_tokens"`
	// Reasoning is the part of Completion that is reasoning.
	Reasoning int64 `json:"reasoning_tokens,omitempty"`
	// Cached is the part of Prompt that came from the provider's cache.
	Cached int64 `json:"cached_tokens,omitempty"`
	// Source says who counted: provider, estimated, crashed or none.
	Source string `json:"source"`
	// CostUSD is what was charged, a decimal number.
	CostUSD string `json:"cost_usd"`
	// Priced reports whether the price is known.
	Priced bool `json:"priced"`
	// FinishReason is why the model ended.
	FinishReason string `json:"finish_reason,omitempty"`
	// OutputCap is the limit of the output that the gateway set, in tokens.
	OutputCap int64 `json:"output_cap,omitempty"`
}

// Session is a VNC session, or a viewer that was refused.
type Session struct {
	// Workstation is its name.
	Workstation string `json:"workstation"`
	// Ended is why an open session ended; absent for a viewer that was refused.
	Ended string `json:"ended,omitempty"`
	// BytesUp went to the workstation.
	BytesUp int64 `json:"bytes_up"`
	// BytesDown went to the viewer.
	BytesDown int64 `json:"bytes_down"`
}

// Find explains the call or session of an id: its own, that of its request, or the provider's of its
// answer; or the run of a trace. Errors: 404, 503.
func Find(ctx context.Context, active *gateway.Gateway, id string) (*Explanation, error) {
	log := active.Requests().Activity
	record, found, err := log.FindAny(ctx, id)
	if request, ok := wire.RequestOf(id); err == nil && !found && ok {
		record, found, err = log.FindAny(ctx, request)
	}
	var e *Explanation
	switch {
	case err != nil:
		return nil, apierror.New(apierror.LedgerUnavailable, "the activity store cannot answer now").WithCause(err)
	case found:
		e, err = explain(ctx, active, &record)
		if made, ok := gateway.Offered[keyNames](active); ok && err == nil {
			if name := made.NameOf(record.Tenant, record.Key); name != "" {
				e.Facts = append(e.Facts, Fact{"Key's name", name})
			}
		}
	case activity.IsTrace(id):
		e, err = findRun(ctx, log, id)
	}
	if err != nil {
		return nil, err
	}
	if e == nil {
		if err := report.Unread(log, id); err != nil {
			return nil, err
		}
		return nil, apierror.New(apierror.NotFound, "%s", notRecorded(id, gateway.Retention(active)))
	}
	if since := log.BlockedSince(); !since.IsZero() {
		e.Until = &since
	}
	return e, nil
}

// keyNames has the names of keys that were made at run time.
type keyNames interface {
	NameOf(tenant, key string) string
}

// notRecorded says why there may be no row of an id, and where else to look.
func notRecorded(id string, keep activity.Retention) string {
	return fmt.Sprintf("nothing with the id %q is recorded. Rows are kept for %s, and the oldest go first once the database has %s. "+
		"A call that is under way has no row yet, and one without a valid key leaves none. "+
		"Ids that clients send are not searched, but for a traceparent: use the X-Request-Id of the answer, or look for the id in the log",
		id, ageText(keep.Age), terminal.Size(keep.Size))
}

// explain makes the explanation of a record.
func explain(ctx context.Context, active *gateway.Gateway, r *activity.Record) (*Explanation, error) {
	e := &Explanation{
		Kind: "call", ID: r.ID, RequestID: r.RequestID, UpstreamID: r.UpstreamID, ClientRequestID: r.ClientRequestID, TraceID: r.TraceID,
		CreatedAt: r.CreatedAt, Key: r.Key, Tenant: r.Tenant, Route: r.Route, Model: r.Model, Provider: r.Provider, Stream: r.Stream,
		Status: r.Status, Code: r.Code, RefusedBy: r.RefusedBy, Attempts: r.Attempts,
		Time: Times{Total: ms(r.Latency), Queued: ms(r.Queued), FirstToken: ms(r.FirstToken), Overhead: ms(r.Overhead)},
	}
	for i := range activity.Fields {
		if f := &activity.Fields[i]; f.Why != "" && !f.Empty(r) {
			e.Facts = append(e.Facts, Fact{f.Why, f.Text(r)})
		}
	}
	meaning := apierror.Code(r.Code).Meaning()
	if r.Family == vncFamily || r.Ended != "" {
		e.Kind, e.Session = "session", &Session{Workstation: r.Workstation, Ended: r.Ended, BytesUp: r.BytesUp, BytesDown: r.BytesDown}
		if meaning = desktop.Reason(r.Ended).Meaning(); r.Ended == "" {
			meaning = desktop.RefusalCode(r.Code).Meaning()
		}
		e.Meaning, e.Advice = meaning.Text, meaning.Advice
		return e, nil
	}
	e.Meaning, e.Advice = meaning.Text, meaning.Advice
	if r.Family == mcpFamily {
		e.Kind = kindTool
	}
	if r.Model != "" {
		e.Usage = &Usage{
			Prompt: r.PromptTokens, Completion: r.CompletionTokens, Reasoning: r.ReasoningTokens, Cached: r.CachedTokens,
			Source: r.UsageSource, CostUSD: limits.FormatMoney(r.CostNano), Priced: r.Priced, FinishReason: r.FinishReason, OutputCap: r.OutputCap,
		}
	}
	for _, a := range r.Attempted {
		e.Attempted = append(e.Attempted, Attempt{a.Target, a.Status, a.Code, ms(a.Latency), apierror.AttemptMeaning(a.Code)})
	}
	for _, s := range r.Skipped {
		e.Skipped = append(e.Skipped, Skipped{s.Target, s.Code, s.RefusedBy, apierror.AttemptMeaning(s.Code)})
	}
	var err error
	e.Limits, err = gateway.Standings(ctx, active, r.Key, r.Tenant, r.Model)
	return e, err
}

// ageText returns a retention as people read it.
func ageText(d time.Duration) string {
	if days := d / (24 * time.Hour); days > 0 && d%(24*time.Hour) == 0 {
		return fmt.Sprintf("%d days", days)
	}
	return d.String()
}

// The families of the records of sessions, and of requests to MCP servers.
const (
	vncFamily = "vnc"
	mcpFamily = "mcp"
)

// kindTool is the kind of a request to an MCP server.
const kindTool = "tool"

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
