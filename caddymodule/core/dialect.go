package core

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// checkDialect returns an error unless a dialect is in the build. The name "" is the default.
func checkDialect(name string) error {
	if slices.Contains(provider.Dialects(), name) {
		return nil
	}
	for _, k := range kinds {
		if k.in == InDialects && slices.Contains(k.members, name) {
			return k.refusal("dialect " + name)
		}
	}
	return provider.ValidDialect(name)
}
