package desktop

import (
	"fmt"
	"net/netip"
	"time"
)

const (
	MaxTombstones = maxTombstones
	MinSweep      = minSweep

	RecentPrefixes     = recentPrefixes
	MaxConnecting      = maxConnecting
	MaxConnectingInAll = maxConnectingInAll
)

var (
	ParseAddress = parseAddress
	IsRecordKey  = isRecordKey
)

// Key is where the record of a workstation is stored.
func (id ID) Key() string { return id.key() }

// State is the service's.
func (w *Service) State() *State { return w.state }

// Sizes counts what a State holds.
func (s *State) Sizes() (entries, tokens, prefixes, dead int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tokens.dead.byHash) != s.tokens.dead.count {
		panic("tombstones and their index differ")
	}
	if s.tokens.dead.count == 0 && len(s.tokens.dead.byPrefix) > 0 {
		panic("prefixes of tombstones are left")
	}
	return len(s.entries), len(s.tokens.live), len(s.tokens.byPrefix), s.tokens.dead.count
}

// Registered counts a tenant's registrations, as kept and as they are.
func (s *State) Registered(tenant string) (kept, real int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, p := range s.entries {
		if id.Tenant == tenant && p.registered() {
			real++
		}
	}
	return s.registered[tenant], real
}

// AddTombstones adds n tokens that were never issued.
func (s *State) AddTombstones(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range n {
		h, _ := hashOf(fmt.Sprintf("%026d", i))
		s.tokens.dead.add(h, fmt.Sprintf("%08d", i), revoked, s.now())
	}
}

// Guarded is a target registered at run time.
func Guarded(address string, networks ...netip.Prefix) *Target {
	return &Target{Address: address, guarded: true, networks: networks}
}

// Permit is what the dialer asks once the address is resolved.
func (t *Target) Permit(network, resolved string, own func(netip.AddrPort) bool) error {
	control := t.dialer(own).Control
	if control == nil {
		return nil
	}
	return control(network, resolved, nil)
}

// Reencode decodes a record and encodes it again.
func Reencode(value []byte) ([]byte, error) {
	r, err := parseRecord(value)
	if err != nil {
		return nil, err
	}
	return r.encode()
}

// RecordOf makes the stored form of a registration.
func RecordOf(id ID, address, credential string, at time.Time) []byte {
	r := record{Version: recordVersion, Tenant: id.Tenant, Name: id.Name, Address: address, Credential: credential, RegisteredAt: at, ChangedAt: at}
	value, err := r.encode()
	if err != nil {
		panic(err)
	}
	return value
}

// Logins is of how many workstations a login is remembered.
func (s *State) Logins() int {
	s.logins.mu.Lock()
	defer s.logins.mu.Unlock()
	return len(s.logins.byID)
}
