package openrouter

// APIKey is a key of /api/v1/keys. Every member is in every answer: the SDKs require nearly all.
type APIKey struct {
	Hash         string `json:"hash"`
	Name         string `json:"name"`
	Label        string `json:"label"` // the first and last characters of the secret
	Disabled     bool   `json:"disabled"`
	Limit        *USD   `json:"limit"`           // nil is null: none
	Remaining    *USD   `json:"limit_remaining"` // as Limit
	Reset        Text   `json:"limit_reset"`
	IncludeBYOK  bool   `json:"include_byok_in_limit"`
	Usage        USD    `json:"usage"`
	UsageDaily   USD    `json:"usage_daily"`
	UsageWeekly  USD    `json:"usage_weekly"`
	UsageMonthly USD    `json:"usage_monthly"`
	byokUsage
	Created   Timestamp `json:"created_at"`
	Updated   Timestamp `json:"updated_at"`
	Creator   Text      `json:"creator_user_id"`
	Workspace string    `json:"workspace_id"`
	Expires   Timestamp `json:"expires_at"`
	External  Text      `json:"external_user"`

	// The following are this gateway's own.

	Tenant      string            `json:"tenant"`
	Scopes      []string          `json:"scopes"`
	Models      []string          `json:"models"`
	Tools       []string          `json:"mcp"`
	Rates       []string          `json:"rates"`
	Concurrency Text              `json:"concurrency"`
	Budgets     []string          `json:"budgets"`
	MaxOutput   Count             `json:"max_output_tokens"`
	Metadata    map[string]string `json:"metadata"`
	// PreviousExpires is when the last secret ends that was replaced and is still good.
	PreviousExpires Timestamp `json:"previous_key_expires_at"`
}

// byokUsage has what is spent at providers with keys of the callers' own, which this gateway does not
// have.
type byokUsage struct {
	BYOKUsage        int64 `json:"byok_usage"`
	BYOKUsageDaily   int64 `json:"byok_usage_daily"`
	BYOKUsageWeekly  int64 `json:"byok_usage_weekly"`
	BYOKUsageMonthly int64 `json:"byok_usage_monthly"`
}

// AppendAPIKey appends {"data": …}, and beside it the secret of a new key and warnings of the gateway.
func AppendAPIKey(dst []byte, k APIKey, secret string, warnings []string) []byte {
	return appendJSON(dst, APIKeyAnswer{data[APIKey]{k.filled()}, secret, warnings})
}

// APIKeyAnswer is an answer about one key.
type APIKeyAnswer struct {
	data[APIKey]
	Secret   string   `json:"key,omitempty"` // where it is made or rotated
	Warnings []string `json:"warnings,omitempty"`
}

// AppendAPIKeys appends {"data": […]}.
func AppendAPIKeys(dst []byte, list []APIKey) []byte {
	filled := make([]APIKey, len(list))
	for i, k := range list {
		filled[i] = k.filled()
	}
	return appendJSON(dst, data[[]APIKey]{filled})
}

// filled returns the key with empty lists instead of null.
func (k APIKey) filled() APIKey {
	for _, list := range []*[]string{&k.Scopes, &k.Models, &k.Tools, &k.Rates, &k.Budgets} {
		if *list == nil {
			*list = []string{}
		}
	}
	if k.Metadata == nil {
		k.Metadata = map[string]string{}
	}
	return k
}

// AppendDeletedKey appends the answer to the deletion of a key.
func AppendDeletedKey(dst []byte) []byte { return append(dst, `{"deleted":true}`...) }

// AppendCredits appends the answer of GET /api/v1/credits.
func AppendCredits(dst []byte, total, usage USD) []byte {
	return appendJSON(dst, data[credits]{credits{total, usage}})
}

type credits struct {
	Total USD `json:"total_credits"`
	Usage USD `json:"total_usage"`
}
