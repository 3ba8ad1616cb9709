// Package activity keeps one record of every model call and VNC session and answers questions about them.
//
//	log := activity.New(st)
//	log.Append(&activity.Record{ID: id, Tenant: "default", …})   // about 1 us, never waits for a disk
//	filter, err := activity.ParseFilter(r.URL.Query())
//	filter.Tenant = caller.Tenant
//	page, err := log.Query(ctx, filter)                          // sees every record appended before
//
// A record holds names, counts, times and money; never a prompt, an answer or a secret. Rows live in the store's
// database ([Schema]) and are dropped by age and size ([Pruner]); what has been spent is not computed from them.
package activity

import (
	"strings"
	"time"
	"unicode/utf8"
)

// Where the usage of a record comes from.
const (
	UsageProvider  = "provider"  // the provider reported it
	UsageEstimated = "estimated" // the provider reported none, or one that cannot be true
	UsageCrashed   = "crashed"   // the process died: what was reserved
	UsageNone      = "none"      // nothing was used
)

// Record is one call or VNC session, written when it has ended.
type Record struct {
	// ID is ours: "gen-…", the X-Generation-Id of the second family, or "vnc-…" for a session.
	ID string
	// RequestID is ours (the answer's x-request-id); ClientRequestID is what the client sent under that name.
	RequestID, ClientRequestID string
	// UpstreamID is the provider's id of the answer: chatcmpl-…, resp_….
	UpstreamID string
	// CreatedAt is when the call came in, kept to the nanosecond, in UTC.
	CreatedAt time.Time
	// Tenant and Key are names from the configuration.
	Tenant, Key string
	// KeyHash is the SHA-256 of the presented secret in lower-case hex.
	KeyHash string
	// Family is "openai" or "openrouter", Route is "POST /v1/chat/completions".
	Family, Route string
	// Model is the name as asked, Provider the configured name, UpstreamModel the name that was sent to it.
	Model, Provider, UpstreamModel string
	// Status is the HTTP status, 499 if the client had gone. Code is the machine code of a refusal, or "".
	Status int
	Code   string
	Stream bool
	// Latency is until the last byte, FirstToken until the first one of a stream.
	Latency, FirstToken time.Duration
	// FinishReason is as answered, NativeFinishReason as the provider gave it.
	FinishReason, NativeFinishReason                              string
	PromptTokens, CompletionTokens, ReasoningTokens, CachedTokens int64
	// UsageSource says where the counts come from: UsageProvider and the like.
	UsageSource string
	// CostNano is what the call was charged, in nano-USD. Where its price is not
	// known (Priced is false), that is what was reserved for it, or nothing.
	CostNano int64
	Priced   bool
	// Attempts is how many providers were tried.
	Attempts int
	// OutputCap is the bound of the output, in tokens, that the gateway put into the request; 0 if it put in none.
	OutputCap int64
	// Workstation is the desk that the call was about, by its name.
	Workstation string
	// Ended is why a VNC session ended; BytesUp went to the workstation, BytesDown to the viewer.
	Ended              string
	BytesUp, BytesDown int64
}

const (
	// maxText bounds each string of a record: a client may ask for a model by a name as long as its body.
	maxText = 256
	// maxTokens and maxCost bound what a provider may claim, so that sums over a full store stay inside int64.
	maxTokens = 1 << 36
	maxCost   = 1 << 53
)

// bound cuts what a peer has sized. A cut string is copied, so that the queue does not hold on to the whole.
func (r *Record) bound() {
	for _, s := range r.texts() {
		if len(*s) > maxText {
			*s = strings.Clone(clip(*s))
		}
	}
	for _, n := range []*int64{&r.PromptTokens, &r.CompletionTokens, &r.ReasoningTokens, &r.CachedTokens, &r.OutputCap} {
		*n = min(max(*n, 0), maxTokens)
	}
	r.BytesUp, r.BytesDown = max(r.BytesUp, 0), max(r.BytesDown, 0)
	if !representable(r.CreatedAt) {
		r.CreatedAt = time.Unix(0, 0) // kept, and pruned first
	}
	r.CostNano = min(max(r.CostNano, 0), maxCost)
}

// texts are all strings of the record.
func (r *Record) texts() [18]*string {
	return [...]*string{
		&r.ID, &r.RequestID, &r.ClientRequestID, &r.UpstreamID, &r.Tenant, &r.Key, &r.KeyHash, &r.Family, &r.Route,
		&r.Model, &r.Provider, &r.UpstreamModel, &r.Code, &r.FinishReason, &r.NativeFinishReason, &r.UsageSource,
		&r.Workstation, &r.Ended,
	}
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
