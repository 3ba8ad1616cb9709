package keys_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/pattern"
)

// Whether a key sees the limits of a group of models must not depend on its own list alone.
func TestARuntimeKeyMayUseOnlyWhatFitsBothLists(t *testing.T) {
	for _, c := range []struct {
		models, within pattern.List
		some           string
		want           bool
	}{
		{nil, nil, "secret/*", true},
		{nil, pattern.List{"a/*"}, "secret/*", false},
		{nil, pattern.List{"a/*"}, "a/x*", true},
		{pattern.List{"a/*"}, nil, "secret/*", false},
		{pattern.List{"secret/*"}, pattern.List{"a/*"}, "secret/*", false},
		{pattern.List{"a/*", "b/*"}, pattern.List{"a/*"}, "b/x", false},
		{pattern.List{"a/*", "b/*"}, pattern.List{"a/*"}, "a/x", true},
	} {
		key := keys.NewRuntimeKey(keys.Key{Name: "made"}, c.models, c.within)
		if key.AllowsSome(c.some) != c.want {
			t.Errorf("%q within %q and %q: not %v", c.models, c.within, c.some, c.want)
		}
	}
}
