package report

import (
	"context"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

// ConfiguredKey is a key of the configuration, which is changed there.
type ConfiguredKey struct {
	Name        string     `json:"name"`
	Tenant      string     `json:"tenant"`
	Source      string     `json:"source"` // "configuration"
	Disabled    bool       `json:"disabled"`
	Expires     *time.Time `json:"expires_at"` // null: never
	Scopes      []string   `json:"scopes"`
	Models      []string   `json:"models"` // empty: every model
	Tools       []string   `json:"mcp"`    // empty: none
	HostedTools bool       `json:"hosted_tools"`
	AllTenants  bool       `json:"all_tenants"`
}

// ConfiguredKeys returns a list of keys of the configuration.
func ConfiguredKeys(list []*keys.Key) any {
	shown := make([]ConfiguredKey, len(list))
	for i, k := range list {
		shown[i] = configuredKey(k)
	}
	return map[string]any{"data": shown}
}

// OneConfiguredKey returns a key of the configuration.
func OneConfiguredKey(k *keys.Key) any { return map[string]any{"data": configuredKey(k)} }

func configuredKey(k *keys.Key) ConfiguredKey {
	models, tools := keys.Patterns(k)
	shown := ConfiguredKey{
		Name: k.Name, Tenant: k.Tenant, Source: "configuration", Disabled: !k.Valid(time.Time{}), Scopes: k.Scopes.Names(),
		Models: append([]string{}, models...), Tools: append([]string{}, tools...), HostedTools: k.HostedTools, AllTenants: k.AllTenants,
	}
	if !k.Expires.IsZero() {
		shown.Expires = &k.Expires
	}
	return shown
}

// unlimitedCredits are shown as left to a tenant without a budget of money: the API has no word for
// it.
const unlimitedCredits = 1_000_000 * openrouter.USD(1_000_000_000)

// Credits returns what a tenant has spent and may spend in all. Balances are those of its budgets.
// What it has spent is the ledger's if it has a total budget of money, else what the activity still
// has. Errors: 503.
func Credits(ctx context.Context, log activity.Log, tenant string, balances []limits.Balance) ([]byte, error) {
	left := unlimitedCredits
	for _, b := range balances {
		switch {
		case b.Budget.Unit != limits.Money || b.Budget.Limit == limits.NoLimit:
		case b.Budget.Period == limits.Total:
			return openrouter.AppendCredits(nil, openrouter.USD(b.Budget.Limit), openrouter.USD(b.Spent)), nil
		default:
			left = min(left, openrouter.USD(b.Remaining()))
		}
	}
	days, err := log.Costs(ctx, tenant, "")
	if err != nil {
		return nil, refusal(err)
	}
	var usage openrouter.USD
	for _, d := range days {
		usage += openrouter.USD(d.CostNano)
	}
	return openrouter.AppendCredits(nil, usage+left, usage), nil
}
