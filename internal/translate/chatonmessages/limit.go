package chatonmessages

import (
	"cmp"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
)

// OutputLimit is the limit of the output of a request that has none, for a provider that requires
// one: that of the model is as good as none.
func OutputLimit(rules catalog.Capabilities) int64 { return cmp.Or(rules.MaxOutput, defaultOutput) }
