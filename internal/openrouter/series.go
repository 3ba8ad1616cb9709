package openrouter

// SeriesAnswer is the answer of GET /api/v1/activity/series. OpenRouter has no such route.
type SeriesAnswer struct {
	By              string       `json:"by"`   // model, key, tenant, provider, code
	Step            string       `json:"step"` // minute, hour, day
	From            Timestamp    `json:"from"`
	To              Timestamp    `json:"to"`       // the first instant after the last point
	Complete        bool         `json:"complete"` // false while older rows are still added
	PercentileError float64      `json:"percentile_error"`
	Data            []SeriesLine `json:"data"`  // by cost, then requests, the greatest first
	Other           *SeriesLine  `json:"other"` // all further series together; null if there are none
	Total           SeriesLine   `json:"total"` // of everything
}

// SeriesLine is one series. Points without requests are left out.
type SeriesLine struct {
	Name   *string       `json:"name,omitempty"`   // of the model, key, …; not of sums of several
	Series int           `json:"series,omitempty"` // how many the other ones are
	Total  SeriesPoint   `json:"total"`
	Points []SeriesPoint `json:"points"`
}

// SeriesPoint has the sums of an hour, a day or the whole time.
type SeriesPoint struct {
	At               Timestamp          `json:"at"` // its start
	Requests         int64              `json:"requests"`
	Errors           int64              `json:"errors"`
	Unpriced         int64              `json:"unpriced"` // used something whose price is unknown
	Cost             USD                `json:"cost"`
	PromptTokens     int64              `json:"prompt_tokens"`
	CompletionTokens int64              `json:"completion_tokens"`
	ReasoningTokens  int64              `json:"reasoning_tokens"`
	CachedTokens     int64              `json:"cached_tokens"`
	Units            map[string]int64   `json:"units,omitempty"` // besides tokens of text, by the names that a row has for them
	Duration         *SeriesPercentiles `json:"duration_ms"`     // null without a call that has it
	FirstToken       *SeriesPercentiles `json:"first_token_ms"`  // of streams
	PerToken         *SeriesPercentiles `json:"per_token_ms"`    // of streams, after the first
	Overhead         *SeriesPercentiles `json:"overhead_ms"`
}

// SeriesPercentiles are of Count calls.
type SeriesPercentiles struct {
	Count int64                `json:"count"`
	P50   FractionMilliseconds `json:"p50"`
	P95   FractionMilliseconds `json:"p95"`
	P99   FractionMilliseconds `json:"p99"`
}

// AppendSeries appends the answer.
func AppendSeries(dst []byte, a SeriesAnswer) []byte {
	if a.Data == nil {
		a.Data = []SeriesLine{}
	}
	return appendJSON(dst, a)
}
