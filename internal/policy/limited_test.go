package policy

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

func TestLimitedSubjectsHaveTheirOwners(t *testing.T) {
	rated := func(name string) limits.Subject {
		return limits.Subject{Name: name, Concurrency: limits.Concurrency{Limit: 1}}
	}
	everybody, acme := rated(GatewaySubject()), rated(TenantSubject("acme"))
	l := Limits{
		Keys: map[string]*KeyLimits{
			"dev": {Tenant: "acme", Subjects: []limits.Subject{rated(KeySubject("dev")), acme, everybody}},
			"bot": {Tenant: "lab", Subjects: []limits.Subject{{Name: KeySubject("bot")}, everybody}}, // has caps only
		},
		Tenants: map[string]*KeyLimits{"acme": {Tenant: "acme", Subjects: []limits.Subject{acme, everybody}}},
		Models: []ModelLimits{
			{Pattern: "test/*", Subject: rated(ModelSubject("test/*"))}, {Pattern: "capped/*", Subject: limits.Subject{Name: ModelSubject("capped/*")}},
		},
	}
	if err := l.Prepare(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for s := range l.Limited("", keys.EveryTenant("")) {
		pattern, model := s.Model()
		got = append(got, fmt.Sprintf("%s of %q %v %s", s.Name, s.Tenant, model, pattern))
	}
	want := []string{
		`gateway of "" false gateway`, `key:dev of "acme" false key:dev`, `model:test/* of "" true test/*`, `tenant:acme of "acme" false tenant:acme`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var names []string
	for _, s := range l.Subjects() {
		names = append(names, s.Name)
	}
	if !slices.Equal(names, []string{"gateway", "key:dev", "tenant:acme"}) {
		t.Errorf("with budgets: %v", names)
	}
}

func TestKeysMadeAtRunTimeAreAmongTheOthers(t *testing.T) {
	made := []string{"key:0a", "key:dx", "key:ff"}
	l := Limits{
		Keys: map[string]*KeyLimits{},
		Made: func(from string, _ keys.Tenants) iter.Seq[Limited] {
			return func(yield func(Limited) bool) {
				for _, name := range made {
					if name >= from && !yield(Limited{&limits.Subject{Name: name}, "acme"}) {
						return
					}
				}
			}
		},
	}
	for _, name := range []string{"dev", "ea", "zz"} {
		own := limits.Subject{Name: KeySubject(name), Concurrency: limits.Concurrency{Limit: 1}}
		l.Keys[name] = &KeyLimits{Tenant: "acme", Subjects: []limits.Subject{own}}
	}
	if err := l.Prepare(); err != nil {
		t.Fatal(err)
	}
	all := []string{"key:0a", "key:dev", "key:dx", "key:ea", "key:ff", "key:zz"}
	for from, want := range map[string][]string{"": all, "key:dx": all[2:], "key:e": all[3:], "key:zz": all[5:], "m": nil} {
		var got []string
		for s := range l.Limited(from, keys.EveryTenant("")) {
			got = append(got, s.Name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("from %q: %q, want %q", from, got, want)
		}
		for n := range want { // whoever has enough stops it
			for s := range l.Limited(from, keys.EveryTenant("")) {
				if s.Name == want[n] {
					break
				}
			}
		}
	}
}
