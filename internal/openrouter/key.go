package openrouter

// KeyInfo is the answer of GET /api/v1/key: what callers may know about their key.
type KeyInfo struct {
	Label     string `json:"label"`           // the key's name; of one made at run time, the ends of its secret
	Limit     *USD   `json:"limit"`           // nil is null: there is no money budget
	Remaining *USD   `json:"limit_remaining"` // as Limit
	Reset     Text   `json:"limit_reset"`     // "daily", "weekly", "monthly"

	Usage        USD `json:"usage"`
	UsageDaily   USD `json:"usage_daily"`
	UsageWeekly  USD `json:"usage_weekly"`
	UsageMonthly USD `json:"usage_monthly"`

	Budgets []Budget `json:"budgets"` // of the key itself, shown beside what the family knows
	// Exhausted has the subjects of which a budget is used up, so that calls are refused: the key,
	// its tenant, the gateway.
	Exhausted []string  `json:"exhausted"`
	Expires   Timestamp `json:"expires_at"`
	keyDetails
}

// Budget is the state of one budget. Amounts are USD or int64 (tokens).
type Budget struct {
	Unit     string    `json:"unit"`   // usd, tokens
	Period   string    `json:"period"` // day, week, month, total
	Soft     bool      `json:"soft"`
	Limit    any       `json:"limit"`
	Spent    any       `json:"spent"`
	Reserved any       `json:"reserved"`
	ResetsAt Timestamp `json:"resets_at"`
}

// keyDetails has the members that say less of a key: most are the same for all keys of this gateway.
type keyDetails struct {
	byokUsage
	FreeTier        bool `json:"is_free_tier"`
	ManagementKey   bool `json:"is_management_key"`
	ProvisioningKey bool `json:"is_provisioning_key"` // as ManagementKey, its old name
	IncludeBYOK     bool `json:"include_byok_in_limit"`
	Creator         Text `json:"creator_user_id"`

	// SDKs from 1.3 on ask for these.
	OrganizationID     null     `json:"organization_id"`
	Workspace          Text     `json:"workspace_id"`
	AllowedDataRegions []string `json:"allowed_data_regions"`
	FreeModelRequests  struct {
		Limit     int64 `json:"limit"`
		Remaining int64 `json:"remaining"`
		Used      int64 `json:"used"`
	} `json:"free_model_daily_requests"`

	// Deprecated by OpenRouter, yet required by its SDKs.
	RateLimit keyRateLimit `json:"rate_limit"`
}

type keyRateLimit struct {
	Requests int64  `json:"requests"`
	Interval string `json:"interval"`
	Note     string `json:"note"`
}

// AppendKey appends {"data": …}.
func AppendKey(dst []byte, k KeyInfo) []byte {
	if k.Budgets == nil {
		k.Budgets = []Budget{}
	}
	if k.Exhausted == nil {
		k.Exhausted = []string{}
	}
	k.AllowedDataRegions = []string{}
	k.RateLimit = keyRateLimit{Requests: -1, Interval: "10s", Note: "not used; limits are told by the answers of a call"}
	return appendJSON(dst, data[KeyInfo]{k})
}
