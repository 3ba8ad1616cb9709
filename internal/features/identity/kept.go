package identity

import (
	"maps"
	"sync"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
)

// maxKnown is how many people are known at once: those whose last token has not ended.
const maxKnown = 50_000

// kept outlives a configuration: desktops do.
type kept struct {
	mu      sync.Mutex
	known   map[string]identity.Person // by the hash of the credential: by the longest token of each
	issuers *identity.Issuers          // of the current configuration; nil before the first
}

// note notes somebody. Where there is no room, those go whose tokens have ended, else anybody.
func (k *kept) note(person identity.Person, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.known) >= maxKnown {
		maps.DeleteFunc(k.known, func(_ string, p identity.Person) bool { return !now.Before(p.Ends) })
		for hash := range k.known {
			if len(k.known) < maxKnown {
				break
			}
			delete(k.known, hash)
		}
	}
	if longer, ok := k.known[person.Hash]; !ok || longer.Role != person.Role || !longer.Ends.After(person.Ends) {
		k.known[person.Hash] = person
	}
}
