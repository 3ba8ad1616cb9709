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

	// ActivityCall is nil for a row of a day.
	*ActivityCall
}

// ActivityCall is the part of a row that is not OpenRouter's.
type ActivityCall struct {
	ID           string       `json:"id"`
	RequestID    string       `json:"request_id"`
	CreatedAt    Timestamp    `json:"created_at"`
	Key          string       `json:"key"`    // the key's name, never its secret
	Route        string       `json:"route"`  // such as "POST /v1/responses"
	Status       int          `json:"status"` // HTTP status; 499 when the client left
	Code         Text         `json:"code"`   // machine code of a refusal
	Stream       bool         `json:"stream"`
	LatencyMS    int64        `json:"latency_ms"`
	FirstTokenMS Milliseconds `json:"first_token_ms"`
	FinishReason Text         `json:"finish_reason"`
	UsageSource  string       `json:"usage_source"` // provider, estimated, crashed, none
	Priced       bool         `json:"priced"`
	Attempts     int          `json:"attempts"`
	Attempted    []Attempt    `json:"attempted,omitempty"`  // each of them, if several targets could be asked
	OutputCap    int64        `json:"output_cap,omitempty"` // set by the gateway, in tokens

	Workstation string `json:"workstation,omitempty"` // of a call about a workstation

	Tenant     string               `json:"tenant,omitempty"`     // shown to those who see several
	RefusedBy  string               `json:"refused_by,omitempty"` // the option that refused the call, and its owner
	QueuedMS   FractionMilliseconds `json:"queued_ms,omitzero"`   // the wait for a concurrency slot
	OverheadMS FractionMilliseconds `json:"overhead_ms,omitzero"` // in the gateway, without queue, provider and client
	TraceID    string               `json:"trace_id,omitempty"`   // of a traced call
	User       string               `json:"user,omitempty"`       // who used the key, if that is known
	// ActivityDetail is nil except for a row that was asked for by an id.
	*ActivityDetail
	// ActivitySession is nil except for a VNC session.
	*ActivitySession
}

// ActivityDetail is the part of a row that only those read who look at one call.
type ActivityDetail struct {
	UpstreamID         Text   `json:"upstream_id"`       // the provider's, of its answer
	ClientRequestID    Text   `json:"client_request_id"` // the client's own
	KeyHash            string `json:"api_key_hash"`
	Family             string `json:"family"`         // of the API: openai, openrouter, anthropic; vnc
	UpstreamModel      Text   `json:"upstream_model"` // null if no provider was asked
	NativeFinishReason Text   `json:"native_finish_reason"`
}

// Attempt is one request to a provider for a call.
type Attempt struct {
	Target    string `json:"target"` // "provider/model", with "@endpoint" if the provider has several
	Status    Count  `json:"status"` // of the provider's answer; null for none
	Code      Text   `json:"code"`   // of its failure; null for an answer
	LatencyMS int64  `json:"latency_ms"`
}

// ActivitySession is the part of a row that only a VNC session has.
type ActivitySession struct {
	Ended     string `json:"ended"`      // why: viewer_left, released, …
	BytesUp   int64  `json:"bytes_up"`   // to the workstation
	BytesDown int64  `json:"bytes_down"` // to the viewer
}

// AppendActivity appends the answer of GET /api/v1/activity. The cursor names the next page, ""
// (null) on the last.
func AppendActivity(dst []byte, items []ActivityItem, nextCursor string) []byte {
	if items == nil {
		items = []ActivityItem{}
	}
	return appendJSON(dst, struct {
		Data       []ActivityItem `json:"data"`
		NextCursor Text           `json:"next_cursor"`
	}{items, Text(nextCursor)})
}
