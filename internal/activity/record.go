// Package activity keeps one record of every model call and VNC session and answers queries about
// them.
//
//	log := sqlite.New(st)
//	log.Append(&activity.Record{ID: id, Tenant: "default", …})   // about 1 us, never waits for a disk
//	filter, err := activity.ParseFilter(r.URL.Query())
//	filter.Tenant = caller.Tenant
//	page, err := log.Query(ctx, filter)                          // includes every record appended before
//
// A record has names, counts, times and money; never a prompt, an answer or a secret. Rows are in
// the tables of an [Engine], and are deleted by age and size ([Retention]). Budgets are not
// computed from them.
package activity

import (
	"time"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// The sources of a record's usage.
const (
	UsageProvider  = "provider"  // the provider reported it
	UsageEstimated = "estimated" // the provider reported none, or an impossible one
	UsageCrashed   = "crashed"   // the process died: the reserved usage
	UsageNone      = "none"      // nothing was used
)

// Record is one call or VNC session, written when it has ended.
type Record struct {
	// ID is ours: "gen-…", the X-Generation-Id of the OpenRouter API, or "vnc-…" for a session.
	ID string
	// RequestID is ours (the answer's x-request-id); ClientRequestID is the client's value of that
	// header.
	RequestID, ClientRequestID string
	// UpstreamID is the provider's ID of the answer: chatcmpl-…, resp_….
	UpstreamID string
	// CreatedAt is when the call arrived, in UTC, with nanoseconds.
	CreatedAt time.Time
	// Tenant and Key are names from the configuration.
	Tenant, Key string
	// KeyHash is the SHA-256 of the presented secret in lower-case hex.
	KeyHash string
	// User is who used the key, if a single sign-on has said so.
	User string
	// EndUser and App are for whom and by which program the call was made, as the caller says:
	// nobody has checked them.
	EndUser, App string
	// Family is "openai", "openrouter", "anthropic", "google", "mcp" or "vnc"; Route is such as
	// "POST /v1/chat/completions". Both are "unknown" for a call that a crash ended.
	Family, Route string
	// Model is the requested name, Provider the configured name, UpstreamModel the name sent to the
	// provider. Provider is the server of an MCP request, and Model "server/tool" if it calls a tool.
	Model, Provider, UpstreamModel string
	// Status is the HTTP status, 499 if the client had disconnected. Code is the machine code of a
	// refusal, or "".
	Status int
	Code   string
	Stream bool
	// RefusedBy is the option that refused the call, and whose it is: "key dev: rate 10/min". It is
	// "" if no option did.
	RefusedBy string
	// Latency is until the last byte, FirstToken until the first one of a stream.
	Latency, FirstToken time.Duration
	// Queued is the part of Latency in which the call waited for a concurrency slot. Overhead is
	// the part in which it neither waited there nor for a provider or the client.
	Queued, Overhead time.Duration
	// TraceID is the call's trace, 32 hexadecimal digits: the one that is recorded, else the one
	// that the caller named, else "".
	TraceID string
	// FinishReason is the answered one, NativeFinishReason the provider's.
	FinishReason, NativeFinishReason                              string
	PromptTokens, CompletionTokens, ReasoningTokens, CachedTokens int64
	// Units is what was used besides tokens of text.
	Units units.Counts
	// UsageSource says where the counts come from: UsageProvider and the like.
	UsageSource string
	// CostNano is what the call was charged, in nano-USD. If its price is unknown (Priced is
	// false), that is the reserved amount, or nothing.
	CostNano int64
	Priced   bool
	// Attempts is how many requests were sent to providers. Attempted has each of them, if the call
	// had several targets or met a time limit.
	Attempts  int
	Attempted []Attempt
	// Skipped has the targets that were not asked, and why. Those behind the target that answered
	// are not in it. A call with one target has none.
	Skipped []Skipped
	// OutputCap is the output limit, in tokens, that the gateway added to the request; 0 if it
	// added none.
	OutputCap int64
	// Workstation is the name of the workstation.
	Workstation string
	// Ended is why a VNC session ended; BytesUp went to the workstation, BytesDown to the viewer.
	Ended              string
	BytesUp, BytesDown int64
	// Role is "guest" or "agent" for a VNC session of one. Actions, Screenshots and Typed are what
	// an agent did: Typed is how many characters it has typed.
	Role                        string
	Actions, Screenshots, Typed int64
	// Recording is the ID of the recording that a session has left, or that a request is about.
	Recording string
	// Method is that of an MCP request, one that the protocol has, such as "tools/call". IsError reports whether the tool
	// answered that it failed. RequestBytes and AnswerBytes are the sizes of the two bodies.
	Method                    string
	IsError                   bool
	RequestBytes, AnswerBytes int64
	// Transport is "websocket" for a call that has come over one, else "". Connection is the id of
	// that WebSocket, which its calls have in common.
	Transport, Connection string
}

// Attempt is one request to a provider.
type Attempt struct {
	Target  string // "provider/model", with "@endpoint" if the provider has several
	Status  int    // of the provider's answer; 0 for none
	Code    string // of its failure, "" if it answered; of a time limit "timeout_" and which
	Latency time.Duration
}

// Skipped is a target that a call did not ask.
type Skipped struct {
	Target string `json:"target"` // as in an Attempt; without an endpoint it means all of them
	Code   string `json:"code"`   // of a refusal, or one that apierror.AttemptMeaning has
	// RefusedBy is the option that decided it, and whose it is; "" if no option did. A field of the
	// request is written as "request: provider.only".
	RefusedBy string `json:"refused_by,omitempty"`
}

const (
	// maxAttempted bounds the attempts of a record, and its targets that were not asked.
	maxAttempted = 16
	// maxText bounds each string of a record: the name of a model may be as long as a body.
	maxText = 256
	// maxTokens and maxCost bound a provider's figures, so that sums over a full store stay inside
	// int64.
	maxTokens = 1 << 36
	maxCost   = 1 << 53
)

// Bound shortens what a peer has sized.
func Bound(r *Record) {
	for i := range Fields {
		switch v := Fields[i].Of(r).(type) {
		case *string:
			if len(*v) > maxText {
				*v = clip(*v)
			}
		case *int64:
			*v = max(*v, 0)
		}
	}
	for _, n := range []*int64{&r.PromptTokens, &r.CompletionTokens, &r.ReasoningTokens, &r.CachedTokens, &r.OutputCap} {
		*n = min(*n, maxTokens)
	}
	for i := range r.Units {
		r.Units[i] = min(r.Units[i], maxTokens)
	}
	r.Attempted = r.Attempted[:min(len(r.Attempted), maxAttempted)]
	for i := range r.Attempted {
		r.Attempted[i].Target = clip(r.Attempted[i].Target)
	}
	r.Skipped = r.Skipped[:min(len(r.Skipped), maxAttempted)]
	for i := range r.Skipped {
		s := &r.Skipped[i]
		s.Target, s.RefusedBy = clip(s.Target), clip(s.RefusedBy)
	}
	r.Queued, r.Overhead = max(r.Queued, 0), max(r.Overhead, 0)
	if !representable(r.CreatedAt) {
		r.CreatedAt = time.Unix(0, 0) // kept, and pruned first
	}
	r.CostNano = min(r.CostNano, maxCost)
}

// clip cuts s to maxText bytes at the start of a character.
func clip(s string) string {
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for cut > maxText-utf8.UTFMax && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut]
}
