package openrouter

import "time"

// ActivityItem is one row of GET /api/v1/activity: OpenRouter's item, so that
// the SDKs parse it, and what this gateway knows besides. A row stands for one
// call, or for a day of them (Requests).
type ActivityItem struct {
	Time             time.Time // `date` is its UTC day
	Model            string    // as asked
	UpstreamModel    string    // model_permaslug; "" takes Model
	Provider         string
	CostNano         int64 // nano-USD
	Requests         int64 // 0 is taken as 1
	PromptTokens     int64
	CompletionTokens int64
	ReasoningTokens  int64
	CachedTokens     int64

	// Call has what is known of a single call; nil for a row of a day.
	Call *ActivityCall
}

// ActivityCall is the part of a row that is not OpenRouter's.
type ActivityCall struct {
	ID, RequestID string
	Key           string // the key's name, never its secret
	Route         string // such as "POST /v1/responses"
	Status        int    // HTTP status; 499 when the client left
	Code          string // machine code of a refusal, null if none
	Stream        bool
	Latency       time.Duration
	FirstToken    time.Duration // 0 is null: there was none
	FinishReason  string
	UsageSource   string // provider, estimated, crashed, none
	Priced        bool
	Attempts      int
	OutputCap     int64 // tokens of output that the gateway asked for; 0: the member is absent

	Workstation string // of a call about a desk; else the member is absent
	// Session is what became of a VNC session; nil for other calls.
	Session *ActivitySession
}

// ActivitySession is the part of a row that only a VNC session has.
type ActivitySession struct {
	Ended              string // why: viewer_left, released, …
	BytesUp, BytesDown int64  // to the workstation, to the viewer
}

// AppendActivityItem appends one row. None of OpenRouter's members is null.
func AppendActivityItem(dst []byte, a ActivityItem) []byte {
	w := writer{dst: append(dst, '{')}
	slug := a.UpstreamModel
	if slug == "" {
		slug = a.Model
	}
	w.text("date", a.Time.UTC().Format(time.DateOnly))
	w.text("model", a.Model)
	w.text("model_permaslug", slug)
	w.text("endpoint_id", a.Provider+"/"+slug)
	w.text("provider_name", a.Provider)
	w.usd("usage", a.CostNano)
	w.number("byok_usage_inference", 0)
	w.number("requests", max(a.Requests, 1))
	w.number("prompt_tokens", a.PromptTokens)
	w.number("completion_tokens", a.CompletionTokens)
	w.number("reasoning_tokens", a.ReasoningTokens)
	w.number("cached_tokens", a.CachedTokens)
	if c := a.Call; c != nil {
		w.text("id", c.ID)
		w.text("request_id", c.RequestID)
		w.text("created_at", timestamp(a.Time))
		w.text("key", c.Key)
		w.text("route", c.Route)
		w.number("status", int64(c.Status))
		w.textOrNull("code", c.Code)
		w.bool("stream", c.Stream)
		w.number("latency_ms", c.Latency.Milliseconds())
		w.millisOrNull("first_token_ms", c.FirstToken)
		w.textOrNull("finish_reason", c.FinishReason)
		w.text("usage_source", c.UsageSource)
		w.bool("priced", c.Priced)
		w.number("attempts", int64(c.Attempts))
		if c.OutputCap > 0 {
			w.number("output_cap", c.OutputCap)
		}
		if c.Workstation != "" {
			w.text("workstation", c.Workstation)
		}
		if s := c.Session; s != nil {
			w.text("ended", s.Ended)
			w.number("bytes_up", s.BytesUp)
			w.number("bytes_down", s.BytesDown)
		}
	}
	return append(w.dst, '}')
}

// AppendActivity appends the answer of GET /api/v1/activity. The cursor is
// where the next page begins, "" (null) on the last.
func AppendActivity(dst []byte, items []ActivityItem, nextCursor string) []byte {
	dst = append(dst, `{"data":[`...)
	for i, a := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = AppendActivityItem(dst, a)
	}
	w := writer{dst: append(dst, ']')}
	w.textOrNull("next_cursor", nextCursor)
	return append(w.dst, '}')
}

// timestamp is RFC 3339 in UTC with milliseconds.
func timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func (w *writer) millisOrNull(key string, d time.Duration) {
	if d <= 0 {
		w.null(key)
		return
	}
	w.number(key, d.Milliseconds())
}
