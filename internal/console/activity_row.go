package console

import (
	"strconv"
	"strings"
	"time"
)

// activityRow is one row of GET /api/v1/activity: a call, or the session of a desktop.
type activityRow struct {
	ID        string
	RequestID string    `json:"request_id"`
	CreatedAt time.Time `json:"created_at"`
	Tenant    string    // only for keys that see several
	rowKey
	Route        string
	Model        string // as asked
	Provider     string `json:"provider_name"`
	Status       int
	Code         string
	RefusedBy    string `json:"refused_by"`
	Stream       bool
	Usage        float64
	Priced       bool
	Source       string   `json:"usage_source"`
	Prompt       int64    `json:"prompt_tokens"`
	Completion   int64    `json:"completion_tokens"`
	Reasoning    int64    `json:"reasoning_tokens"`
	Cached       int64    `json:"cached_tokens"`
	OutputCap    int64    `json:"output_cap"`
	FinishReason string   `json:"finish_reason"`
	Latency      float64  `json:"latency_ms"`
	FirstToken   *float64 `json:"first_token_ms"`
	Queued       float64  `json:"queued_ms"`
	Overhead     float64  `json:"overhead_ms"`
	TraceID      string   `json:"trace_id"`
	Attempts     int
	Attempted    []attempt
	Workstation  string
	Ended        string
	BytesUp      int64  `json:"bytes_up"`
	BytesDown    int64  `json:"bytes_down"`
	User         string // who used the key, by single sign-on

	// The rest is only in a row that was asked for by an id.
	UpstreamID         string `json:"upstream_id"`       // the provider's
	ClientRequestID    string `json:"client_request_id"` // the client's own
	KeyHash            string `json:"api_key_hash"`
	UpstreamModel      string `json:"upstream_model"` // the model's name at the provider
	NativeFinishReason string `json:"native_finish_reason"`
}

// attempt is one request to a provider.
type attempt struct {
	Target  string
	Status  int // 0: no answer
	Code    string
	Latency float64 `json:"latency_ms"`
}

// sessionPrefix begins the ids of desktops' sessions.
const sessionPrefix = "vnc-"

// Session reports whether the row is the session of a desktop, also of one that was refused.
func (r *activityRow) Session() bool { return r.Ended != "" || strings.HasPrefix(r.ID, sessionPrefix) }

// usedNone is the source of the usage of a call that used nothing.
const usedNone = "none"

// Used reports whether the call has used something that may cost.
func (r *activityRow) Used() bool { return r.Source != usedNone }

// result is how a row ended. What is fine needs no badge.
type result struct {
	Text, Tone string
	Fine       bool
}

// brokenEnds are the ends of sessions that somebody should look at.
var brokenEnds = map[string]bool{"workstation_left": true, "engine_lost": true, "protocol_error": true}

// Result is the code, else the status. Only what went wrong has a colour.
func (r *activityRow) Result() result {
	switch {
	case brokenEnds[r.Ended]:
		return result{Text: inPlainWords(r.Ended), Tone: "warn"}
	case r.Ended != "":
		return result{Text: inPlainWords(r.Ended), Fine: true}
	case r.Code == "":
		return result{Text: "ok", Fine: true}
	case r.Status >= 500:
		return result{Text: r.Code, Tone: "bad"}
	case r.Status == statusClientGone:
		return result{Text: r.Code}
	}
	return result{Text: r.Code, Tone: "warn"}
}

// statusClientGone is the status of a call whose client has left: nobody got it.
const statusClientGone = 499

// inPlainWords is a machine word as people write it.
func inPlainWords(word string) string { return strings.ReplaceAll(word, "_", " ") }

// cost is an amount, or the reason why there is none.
type cost struct {
	Amount, Reason string
	Short          string // for a column of amounts
}

// Cost is what the call cost. A refusal costs nothing, and an unknown price is not 0.
func (r *activityRow) Cost() cost {
	switch {
	case r.Session():
		return cost{}
	case !r.Used():
		return cost{Amount: usd(0), Short: usd(0)}
	case r.Priced:
		return cost{Amount: usd(r.Usage), Short: microUSD(r.Usage)}
	case r.Usage > 0:
		return cost{unknown, "no price; budgets were charged " + usd(r.Usage), unknown}
	}
	return cost{unknown, "no price", unknown}
}

// microUSD is an amount below a dollar with six decimals, so that a column of them is aligned.
func microUSD(amount float64) string {
	switch {
	case amount >= 1 || amount == 0:
		return usd(amount)
	case amount < 0.000001:
		return "<$0.000001"
	}
	return "$" + strconv.FormatFloat(amount, 'f', 6, 64)
}

// Via is the provider, if the name of the model does not say it.
func (r *activityRow) Via() string {
	if strings.HasPrefix(r.Model, r.Provider+"/") {
		return ""
	}
	return r.Provider
}

// First is the time to the first token, in milliseconds; 0 is that of no stream.
func (r *activityRow) First() float64 {
	if r.FirstToken == nil {
		return 0
	}
	return *r.FirstToken
}

// Bytes is what the session of a desktop has moved.
func (r *activityRow) Bytes() int64 { return r.BytesUp + r.BytesDown }

// CachedNote says how much of the input came from the provider's cache.
func (r *activityRow) CachedNote() string {
	if r.Cached == 0 {
		return ""
	}
	return count(r.Cached) + " from the cache"
}

// ReasoningNote says how much of the output was reasoning.
func (r *activityRow) ReasoningNote() string {
	if r.Reasoning == 0 {
		return ""
	}
	return count(r.Reasoning) + " of reasoning"
}
