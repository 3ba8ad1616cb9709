package report

import (
	"encoding/json"
	"time"
)

// ShownKey is what a command reads of the answers of [MadeKey] and [MadeKeys]. Amounts are in USD, as
// they were written.
type ShownKey struct {
	Hash, Name, Tenant, Label string
	Disabled                  bool
	Limit                     *json.Number
	Remaining                 *json.Number `json:"limit_remaining"`
	Reset                     string       `json:"limit_reset"`
	Usage                     json.Number
	Created                   time.Time  `json:"created_at"`
	Updated                   *time.Time `json:"updated_at"`
	Expires                   *time.Time `json:"expires_at"`
	Previous                  *time.Time `json:"previous_key_expires_at"`
	Scopes, Models            []string
	Tools                     []string `json:"mcp"`
	Rates, Budgets            []string
	Concurrency               string
	MaxOutput                 *int64 `json:"max_output_tokens"`
}

// State returns whether the key can be used, in a word.
func (k *ShownKey) State(now time.Time) string {
	switch {
	case k.Disabled:
		return "disabled"
	case k.Expires != nil && !now.Before(*k.Expires):
		return "expired"
	}
	return "active"
}
