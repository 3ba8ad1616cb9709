package keys

import "testing"

func TestAKeySeesItsOwnTenantAndAnOperatorEvery(t *testing.T) {
	own, operator := &Key{Tenant: "acme"}, &Key{Tenant: "ops", AllTenants: true}
	for _, c := range []struct {
		key            *Key
		asked, one     string
		all            bool
		acme, ops, lab bool
	}{
		{own, "", "acme", false, true, false, false},
		{own, "acme", "acme", false, true, false, false},
		{own, "ops", "", false, false, false, false},
		{operator, "", "", true, true, true, true},
		{operator, "ops", "ops", false, false, true, false},
		{operator, "acme", "acme", false, true, false, false},
	} {
		got := c.key.Tenants(c.asked)
		one, ok := got.One()
		if one != c.one || ok != (c.one != "") || got.All() != c.all || got.Has("acme") != c.acme || got.Has("ops") != c.ops || got.Has("lab") != c.lab {
			t.Errorf("%s asks for %q: %+v", c.key.Tenant, c.asked, got)
		}
	}
	if none := (Tenants{}); none.Has("") || none.All() {
		t.Error("the zero value sees something")
	}
}

func TestAllTenantsIsOffUnlessConfigured(t *testing.T) {
	for _, all := range []bool{false, true} {
		ring, err := NewKeyring([]Spec{{Name: "dev", Secrets: []string{"a-secret-of-length"}, Scopes: []string{"limits:read"}, AllTenants: all}})
		if err != nil {
			t.Fatal(err)
		}
		if found, ok := ring.find("a-secret-of-length"); !ok || found.AllTenants != all {
			t.Errorf("AllTenants is %v, want %v", found.AllTenants, all)
		}
	}
}
