package policy

import (
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func BenchmarkLimitsOfAModel(b *testing.B) {
	for _, n := range []int{0, 10, 1000} {
		var l Limits
		for i := range n {
			name := fmt.Sprintf("up/model-%d", i)
			l.Models = append(l.Models, ModelLimits{Pattern: name, Subject: limits.Subject{Name: ModelSubject(name)}})
		}
		if err := l.Prepare(); err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.Matching("up/model-5")
			}
		})
	}
}

func TestAKeyWithoutLimitsOfItsOwnHasThoseOfItsTenant(t *testing.T) {
	own, tenant := &KeyLimits{Caps: Caps{Tools: 1}}, &KeyLimits{Caps: Caps{Tools: 2}}
	l := Limits{Keys: map[string]*KeyLimits{"dev": own}, Tenants: map[string]*KeyLimits{"acme": tenant}}
	for _, c := range []struct {
		key  keys.Key
		want *KeyLimits
	}{
		{keys.Key{Name: "dev", Tenant: "acme"}, own},
		{keys.Key{Name: "ci", Tenant: "acme"}, tenant},
		{keys.Key{Name: "ci", Tenant: "other"}, &unlimited},
		{keys.Key{Name: "dev", Tenant: "other"}, own},
	} {
		if got := l.Of(&c.key, nil); got != c.want {
			t.Errorf("%s of %s: %+v, want %+v", c.key.Name, c.key.Tenant, got, c.want)
		}
	}
}
