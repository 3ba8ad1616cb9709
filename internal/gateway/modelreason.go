package gateway

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// ModelReason says whether a key can call a model, for those who may see the providers.
type ModelReason struct {
	ID       string  `json:"id"`
	Callable bool    `json:"callable"`
	Reason   *string `json:"reason"` // why not
	Advice   *string `json:"advice"` // what would change it, in the configuration
}

// Reason says why a key can, or cannot, call a model, from the index that routes.
func (m *Models) Reason(key *keys.Key, name string) ModelReason {
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
		reason, advice = "the lists of this key and its tenant do not have it", "write a pattern that has it after models, in the block of the key or the tenant"
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
