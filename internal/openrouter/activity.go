package openrouter

// ActivityItem is one row of GET /api/v1/activity: OpenRouter's item, so that the SDKs parse it,
// and members of our own. A row is one call, or the calls of a day. None of OpenRouter's members is
// null.
type ActivityItem struct {
	Date             Date   `json:"date"`
	Model            string `json:"model"`           // as asked
	ModelPermaslug   string `json:"model_permaslug"` // the model's name at the provider
	EndpointID       string `json:"endpoint_id"`     // "<provider>/<permaslug>"
	Provider         string `json:"provider_name"`
	Usage            USD    `json:"usage"`
	BYOKUsage        int64  `json:"byok_usage_inference"` // 0: no caller brings a provider's key
	Requests         int64  `json:"requests"`
	PromptTokens     int64  `json:"prompt_tokens"`
	CompletionTokens int64  `json:"completion_tokens"`
	ReasoningTokens  int64  `json:"reasoning_tokens"`
	CachedTokens     int64  `json:"cached_tokens"`
}

// ActivityRow is an item and the members that are not OpenRouter's. A row of a day has units only.
type ActivityRow struct {
	ActivityItem

	Own []Member
}

// Member is a member of a JSON object.
type Member struct {
	Name  string
	Value any
}

// MarshalJSON implements json.Marshaler.
func (r ActivityRow) MarshalJSON() ([]byte, error) {
	b := appendJSON(nil, r.ActivityItem)
	b = b[:len(b)-1]
	for _, m := range r.Own {
		b = append(appendJSON(append(b, ','), m.Name), ':')
		b = appendJSON(b, m.Value)
	}
	return append(b, '}'), nil
}

// Attempt is one request to a provider for a call.
type Attempt struct {
	Target    string `json:"target"` // "provider/model", with "@endpoint" if the provider has several
	Status    Count  `json:"status"` // of the provider's answer; null for none
	Code      Text   `json:"code"`   // of its failure; null for an answer
	LatencyMS int64  `json:"latency_ms"`
}

// AppendActivity appends the answer of GET /api/v1/activity. The cursor names the next page, ""
// (null) on the last.
func AppendActivity(dst []byte, rows []ActivityRow, nextCursor string) []byte {
	if rows == nil {
		rows = []ActivityRow{}
	}
	return appendJSON(dst, ActivityPage{rows, Text(nextCursor)})
}
