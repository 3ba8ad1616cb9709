package desktop

// Inventory is which workstations a configuration has: those that it declares, and those that were
// registered at run time.
type Inventory struct {
	policy   Policy
	declared map[ID]*Target
	state    *State
}

// has reports whether the inventory has the workstation, released or not; State.mu is held.
func (v *Inventory) has(id ID) bool {
	return v.declared[id] != nil || v.state.entries[id].registered()
}

// target is where id is; nil where the configuration cannot reach it. State.mu is held.
func (v *Inventory) target(id ID) *Target {
	if t := v.declared[id]; t != nil {
		return t
	}
	p := v.state.entries[id]
	if !p.registered() {
		return nil
	}
	t := &Target{Address: p.record.Address, guarded: true, networks: v.policy.Networks}
	if name := p.record.Credential; name != "" {
		login, ok := v.policy.Credentials[name]
		if !ok || !login.allows(id.Tenant) {
			return nil
		}
		t.User, t.Password, t.TLS = login.User, login.Password, namedTLS(login.TLS, p.record.Address)
	}
	return t
}
