package caddymodule

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/workstation"
)

const whyPath = "/gatehouse/why"

// story is one call or VNC session, with what its end means and how its limits stand now.
type story struct {
	Kind            string    `json:"kind"` // call or session
	ID              string    `json:"id"`
	RequestID       string    `json:"request_id"`
	UpstreamID      string    `json:"upstream_id,omitempty"`
	ClientRequestID string    `json:"client_request_id,omitempty"`
	TraceID         string    `json:"trace_id,omitempty"`
	CreatedAt       time.Time `json:"created_at"`
	Key             string    `json:"key"`
	Tenant          string    `json:"tenant"`
	Route           string    `json:"route"`
	Model           string    `json:"model,omitempty"`
	Provider        string    `json:"provider,omitempty"`
	Stream          bool      `json:"stream,omitempty"`
	Status          int       `json:"status"`
	Code            string    `json:"code,omitempty"`
	RefusedBy       string    `json:"refused_by,omitempty"` // the option of the configuration
	Meaning         string    `json:"meaning,omitempty"`
	Advice          string    `json:"advice,omitempty"`

	Attempts  int            `json:"attempts"`
	Attempted []attemptStory `json:"attempted,omitempty"`
	Time      timeStory      `json:"time"`
	Usage     *usageStory    `json:"usage,omitempty"`
	Session   *sessionStory  `json:"session,omitempty"`

	Limits []gateway.Standing `json:"limits_now,omitempty"`
}

type attemptStory struct {
	Target    string  `json:"target"`
	Status    int     `json:"status,omitempty"` // 0: no answer
	Code      string  `json:"code,omitempty"`
	LatencyMS float64 `json:"latency_ms"`
	Meaning   string  `json:"meaning,omitempty"`
}

// timeStory is the parts of a call's duration, in milliseconds. Those that are not known are 0.
type timeStory struct {
	Total      float64 `json:"total_ms"`
	Queued     float64 `json:"queued_ms,omitempty"`
	FirstToken float64 `json:"first_token_ms,omitempty"` // from the beginning
	Overhead   float64 `json:"overhead_ms,omitempty"`
}

type usageStory struct {
	Prompt       int64  `json:"prompt_tokens"`
	Completion   int64  `json:"completion_tokens"`
	Reasoning    int64  `json:"reasoning_tokens,omitempty"`
	Cached       int64  `json:"cached_tokens,omitempty"`
	Source       string `json:"source"`
	CostUSD      string `json:"cost_usd"`
	Priced       bool   `json:"priced"`
	FinishReason string `json:"finish_reason,omitempty"`
	OutputCap    int64  `json:"output_cap,omitempty"`
}

type sessionStory struct {
	Workstation string `json:"workstation"`
	Ended       string `json:"ended,omitempty"`
	BytesUp     int64  `json:"bytes_up"`
	BytesDown   int64  `json:"bytes_down"`
}

// serveWhy tells the story of one call or session.
func serveWhy(w http.ResponseWriter, r *http.Request) error {
	answer, err := findStory(r)
	if err != nil {
		writeAdmin(w, nil, err)
		return nil
	}
	writeAdmin(w, answer, nil)
	return nil
}

func findStory(r *http.Request) (*story, error) {
	if r.Method != http.MethodGet {
		return nil, apierror.New(apierror.MethodNotAllowed, "use GET")
	}
	id := r.URL.Query().Get("id")
	if id == "" {
		return nil, apierror.New(apierror.MissingParameter, "id is missing")
	}
	active, err := activeGateway()
	if err != nil {
		return nil, err
	}
	if err := active.Ready(r.Context()); err != nil {
		return nil, err
	}
	log := active.Requests().Activity
	record, found, err := log.FindAny(r.Context(), id)
	if request, ok := modelcall.RequestOf(id); err == nil && !found && ok {
		record, found, err = log.FindAny(r.Context(), request)
	}
	switch {
	case err != nil:
		return nil, apierror.New(apierror.LedgerUnavailable, "the activity store cannot answer now").WithCause(err)
	case !found:
		return nil, apierror.New(apierror.NotFound, "%s", notRecorded(id, gateway.Retention(active)))
	}
	return tell(r.Context(), active, &record)
}

// notRecorded says why there may be no row of an id, and where else to look.
func notRecorded(id string, keep activity.Retention) string {
	return fmt.Sprintf("nothing with the id %q is recorded. Rows are kept for %s, and the oldest go first once the database has %s. "+
		"A call that is under way has no row yet, and one without a valid key leaves none. "+
		"Ids that clients send are not searched: use the X-Request-Id of the answer, or look for the id in the log",
		id, ageText(keep.Age), sizeText(keep.Size))
}

// tell makes the story of a record.
func tell(ctx context.Context, active *gateway.Gateway, r *activity.Record) (*story, error) {
	s := &story{
		Kind: "call", ID: r.ID, RequestID: r.RequestID, UpstreamID: r.UpstreamID, ClientRequestID: r.ClientRequestID, TraceID: r.TraceID,
		CreatedAt: r.CreatedAt, Key: r.Key, Tenant: r.Tenant, Route: r.Route, Model: r.Model, Provider: r.Provider, Stream: r.Stream,
		Status: r.Status, Code: r.Code, RefusedBy: r.RefusedBy, Attempts: r.Attempts,
		Time: timeStory{Total: ms(r.Latency), Queued: ms(r.Queued), FirstToken: ms(r.FirstToken), Overhead: ms(r.Overhead)},
	}
	meaning := apierror.Code(r.Code).Meaning()
	if r.Family == vncFamily || r.Ended != "" {
		s.Kind, s.Session = "session", &sessionStory{Workstation: r.Workstation, Ended: r.Ended, BytesUp: r.BytesUp, BytesDown: r.BytesDown}
		if meaning = workstation.Reason(r.Ended).Meaning(); r.Ended == "" {
			meaning = workstation.RefusalCode(r.Code).Meaning()
		}
		s.Meaning, s.Advice = meaning.Text, meaning.Advice
		return s, nil
	}
	s.Meaning, s.Advice = meaning.Text, meaning.Advice
	if r.Model != "" {
		s.Usage = &usageStory{
			Prompt: r.PromptTokens, Completion: r.CompletionTokens, Reasoning: r.ReasoningTokens, Cached: r.CachedTokens,
			Source: r.UsageSource, CostUSD: limits.FormatMoney(r.CostNano), Priced: r.Priced, FinishReason: r.FinishReason, OutputCap: r.OutputCap,
		}
	}
	for _, a := range r.Attempted {
		s.Attempted = append(s.Attempted, attemptStory{a.Target, a.Status, a.Code, ms(a.Latency), attemptMeaning(a.Code)})
	}
	var err error
	s.Limits, err = gateway.Standings(ctx, active, r.Key, r.Tenant, r.Model)
	return s, err
}

// vncFamily is the family of the records of sessions.
const vncFamily = "vnc"

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// attemptMeaning returns what the code of an attempt means. That of a time limit is "timeout_" and
// the limit.
func attemptMeaning(code string) string {
	if m := apierror.Code(code).Meaning(); m.Text != "" {
		return m.Text
	}
	if limit, ok := timeLimits[code]; ok {
		return limit
	}
	return ""
}

// timeLimits are the codes of attempts that a time limit ended.
var timeLimits = map[string]string{
	"timeout_connect":    "No connection within `connect`.",
	"timeout_first_byte": "The answer did not begin within `first_byte`, `whole` or `header`.",
	"timeout_idle":       "The provider was silent within its answer for longer than `idle`.",
	"timeout_call":       "The request and its answer took longer than `call`.",
}
