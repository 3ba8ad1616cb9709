package models

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// ProviderStatus is a provider as the list of providers shows it: no credential, and of an address
// only the host.
type ProviderStatus struct {
	Object    string           `json:"object"` // "provider"
	ID        string           `json:"id"`     // the name of its block
	Endpoints []EndpointStatus `json:"endpoints"`
	Targets   []TargetStatus   `json:"targets"` // with a call within an hour, ordered by id
	// ListMissing reports that the provider's own list of models is read and has never come.
	ListMissing bool `json:"list_missing,omitempty"`
}

// EndpointStatus is one address of a provider.
type EndpointStatus struct {
	Name *string `json:"name"` // null for the only one
	Host string  `json:"host"`
	// Credential is that of a cloud; absent where an API key, a header or nothing authorizes
	// requests.
	Credential *CredentialStatus `json:"credential,omitempty"`
}

// TargetStatus is the health of a model at a provider, or at one of its endpoints.
type TargetStatus struct {
	ID       string  `json:"id"` // the model, and "@endpoint" if there are several
	Model    string  `json:"model"`
	Endpoint *string `json:"endpoint"`
	State    string  `json:"state"` // healthy, failing, cooling, probing: see package failover

	CoolsUntil *time.Time `json:"cooldown_until"`
	Attempts   int        `json:"attempts"` // in the last minute, as Failures
	Failures   int        `json:"failures"`

	LastFailureClass *string    `json:"last_failure_class"` // failure, rate_limited, lasting
	LastFailure      *time.Time `json:"last_failure_at"`
	LastSuccess      *time.Time `json:"last_success_at"`
}

// Status lists the providers in the order of the configuration, with the health of those models
// that are allowed. A nil allowed allows all.
func (m *Index) Status(allowed func(model string) bool) []ProviderStatus {
	list := make([]ProviderStatus, len(m.ordered))
	at, awaited := make(map[string]*ProviderStatus, len(list)), m.catalog.Awaited()
	for i, p := range m.ordered {
		list[i] = ProviderStatus{Object: "provider", ID: p.Name, Endpoints: []EndpointStatus{}, Targets: []TargetStatus{}}
		for _, e := range p.Endpoints {
			list[i].Endpoints = append(list[i].Endpoints, EndpointStatus{orNull(e.Name), e.Host(), credentialStatus(e)})
		}
		list[i].ListMissing = slices.Contains(awaited, p.Name)
		at[p.Name] = &list[i]
	}
	for _, t := range m.Targets(allowed) {
		shown := TargetStatus{
			ID: t.ID, Model: t.Model.ID, Endpoint: orNull(t.Endpoint), State: t.State, CoolsUntil: timeOrNull(t.Until),
			Attempts: t.Attempts, Failures: t.Failures, LastFailure: timeOrNull(t.LastFailure), LastSuccess: timeOrNull(t.LastSuccess),
		}
		if t.LastClass != failover.Success {
			shown.LastFailureClass = orNull(t.LastClass.String())
		}
		if p := at[t.Provider]; p != nil {
			p.Targets = append(p.Targets, shown)
		}
	}
	return list
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// ModelReason says whether a key can call a model, for those who may see the providers.
type ModelReason struct {
	ID       string  `json:"id"`
	Callable bool    `json:"callable"`
	Reason   *string `json:"reason"` // why not
	Advice   *string `json:"advice"` // what would change it, in the configuration
}

// Reason says why a key can, or cannot, call a model, from the index that routes.
func (m *Index) Reason(key *keys.Key, name string) ModelReason {
	_, err := m.Find(key, name)
	if err == nil {
		return ModelReason{ID: name, Callable: true}
	}
	of, rest, named := strings.Cut(name, "/")
	_, configured := m.providers[of]
	reason, advice := "", ""
	switch {
	case len(name) > maxModelName:
		reason = fmt.Sprintf("no name has more than %d bytes", maxModelName)
	case !key.AllowsModel(name):
		reason = "the lists of this key and its tenant do not have it"
		advice = "write a pattern that has it after models, in the block of the key or the tenant"
	case !named:
		reason, advice = "a name is PROVIDER/MODEL, or an alias, and there is no such alias", "name its provider too"
	case !configured:
		reason, advice = fmt.Sprintf("there is no provider %q, and no such alias", of), "add a block for the provider"
	case errors.Is(err, catalog.ErrNotListed):
		reason, advice = fmt.Sprintf("the provider %q does not list it", of), notListedAdvice
	case errors.Is(err, catalog.ErrUnlisted):
		reason, advice = fmt.Sprintf("the list of models of the provider %q has not come", of), notListedAdvice
	case errors.Is(err, catalog.ErrNotCallable):
		reason = fmt.Sprintf("it is known, and models of the provider %q does not have it, or the provider is left out", of)
		advice = "write \"models " + rest + "\" in its block, or give an optional provider its api_key"
	default:
		reason, advice = fmt.Sprintf("neither a catalog nor a list of the provider %q has it", of), "write \"models "+rest+"\" in its block"
	}
	return ModelReason{ID: name, Reason: &reason, Advice: orNull(advice)}
}
