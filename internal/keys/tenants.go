package keys

// Tenants says whose things a request may see: those of one tenant, of all, or nobody's, which is
// the zero value.
type Tenants struct {
	name string
	all  bool
}

// Tenants returns whose things a request of the key may see. Asked is the tenant that the request
// names, "" for none. A key sees its own tenant. With AllTenants it sees the one that is asked for,
// or all. Another tenant's things do not exist for a key without AllTenants, so it sees nothing.
func (k *Key) Tenants(asked string) Tenants {
	switch {
	case k.AllTenants:
		return EveryTenant(asked)
	case asked == "" || asked == k.Tenant:
		return Tenants{name: k.Tenant}
	}
	return Tenants{}
}

// EveryTenant is [Key.Tenants] for an operator: the tenant that is asked for, or all.
func EveryTenant(asked string) Tenants { return Tenants{name: asked, all: asked == ""} }

// All reports whether every tenant's things may be seen.
func (t Tenants) All() bool { return t.all }

// One returns the only tenant whose things may be seen. Ok is false for all and for none.
func (t Tenants) One() (name string, ok bool) { return t.name, t.name != "" }

// Has reports whether the things of a tenant may be seen.
func (t Tenants) Has(tenant string) bool { return t.all || t.name != "" && t.name == tenant }
