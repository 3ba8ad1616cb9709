package desktop

// Inventory is which workstations a configuration has: those that it declares, and those that were
// registered at run time.
type Inventory struct {
	config *configuration
	state  *State
}

// has reports whether the inventory has the workstation, released or not; the lock of the records is held.
func (v *Inventory) has(id ID) bool { return v.state.has(v.config, id) }

// target is where id is; nil where the configuration cannot reach it.
func (v *Inventory) target(id ID) *Target {
	if t := v.config.declared[id]; t != nil {
		return t
	}
	v.state.records.mu.Lock()
	defer v.state.records.mu.Unlock()
	p := v.state.records.byID[id]
	if !p.registered() {
		return nil
	}
	t := &Target{Address: p.record.Address, Session: p.record.Session, guarded: true, networks: v.config.policy.Networks, ports: v.config.policy.Ports}
	if !t.login(v.config.policy.Credentials, p.record.Credential, id, p.record.Machine) {
		return nil
	}
	return t
}

// sourcesOf are those that know more of it.
func sourcesOf(v *Inventory) *Sources { return &Sources{inventory: v} }
