package desktop

import (
	"context"
	"net/netip"
	"time"
)

const (
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

// Kept counts the records, the workstations with tokens or sessions, and the first characters of tokens.
func (s *State) Kept() (records, workstations, prefixes int) {
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	begin, err := s.sessions.store.Prefixes(context.Background())
	if err != nil {
		panic(err)
	}
	return len(s.records.byID), len(s.sessions.store.Own()), len(begin)
}

// Registered counts a tenant's registrations, as kept and as they are.
func (s *State) Registered(tenant string) (kept, real int) {
	s.records.mu.Lock()
	defer s.records.mu.Unlock()
	for id, p := range s.records.byID {
		if id.Tenant == tenant && p.registered() {
			real++
		}
	}
	return s.records.registered[tenant], real
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
	r := record{Tenant: id.Tenant, Name: id.Name, Registration: Registration{Address: address, Credential: credential}, RegisteredAt: at, ChangedAt: at}
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

// ViewOnly reports whether the viewer may only look.
func (x *Session) ViewOnly() bool { return x.record.Rules.ViewOnly }

// ParseRegistration reads a registration as the elements of a list are read.
func ParseRegistration(text []byte) (r Registration, err error) { return r, r.parse(text, r.Set) }
