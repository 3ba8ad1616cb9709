package identity

import (
	"maps"
	"slices"
)

// Ended ends what a person has opened whom the issuer does not let in any more.
func (p *People) Ended(hash string) {
	p.kept.mu.Lock()
	defer p.kept.mu.Unlock()
	delete(p.kept.known, hash)
}

// Named returns the IDs of those whose tokens have not ended, or who have signed in with a browser,
// at this gateway, with a name for display.
func (p *People) Named(name string) (ids []string) {
	p.kept.mu.Lock()
	defer p.kept.mu.Unlock()
	for _, person := range p.kept.known {
		if person.Name == name && p.now().Before(person.Ends) {
			ids = append(ids, person.ID)
		}
	}
	return ids
}

// IsKnown reports whether somebody, with this hash, has a token that has not ended, or has signed
// in with a browser.
func (p *People) IsKnown(hash string) bool {
	person, ok := p.known(hash)
	return ok && p.now().Before(person.Ends)
}

// Tenants are those of the roles.
func (p *People) Tenants() []string {
	all := map[string]bool{}
	for _, r := range p.roles {
		all[r.Key.Tenant] = true
	}
	return slices.Sorted(maps.Keys(all))
}
