package shared

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// The events. All of them may be lost.
const (
	eventEnded   = "desktop-ended"   // why, "tenant/name", by whom, sessions
	eventRevoked = "desktop-revoked" // when, the end, "tenant/key"; µs of the engine
)

// ended is what eventEnded says.
type ended struct {
	at       desktop.ID
	why      desktop.Reason
	by       string // the key, "" where it is not known
	sessions []string
}

// byWhom begins the word that names a key. Programs that do not know it take it for a session of which
// they have none.
const byWhom = "by:"

func (e ended) String() string {
	words := []string{string(e.why), e.at.String()}
	if e.by != "" {
		words = append(words, byWhom+url.QueryEscape(e.by))
	}
	return strings.Join(append(words, e.sessions...), " ")
}

func parseEnded(text string) (e ended, ok bool) {
	words := strings.Fields(text)
	if len(words) < 3 {
		return e, false
	}
	e.why, e.sessions = desktop.Reason(words[0]), words[2:]
	if key, named := strings.CutPrefix(words[2], byWhom); named {
		e.by, _ = url.QueryUnescape(key) // "" if it is damaged
		e.sessions = words[3:]
	}
	e.at, ok = parseDesk(words[1])
	return e, ok
}

// parseDesk is the inverse of ID.String: a tenant has no slash.
func parseDesk(text string) (id desktop.ID, ok bool) {
	id.Tenant, id.Name, ok = strings.Cut(text, "/")
	return id, ok
}

// owner names the key of an issuer in the engine.
func owner(tenant, key string) string { return tenant + "/" + key }

func (e *tokens) parseRevoked(text string) (desktop.Revocation, bool) {
	words := strings.SplitN(text, " ", 3)
	if len(words) < 3 {
		return desktop.Revocation{}, false
	}
	return e.revocation(words[2], words[0], words[1])
}

func (e *tokens) revocation(by, before, end string) (r desktop.Revocation, ok bool) {
	r.Before, _ = strconv.ParseInt(before, 10, 64)
	r.End = e.local(end)
	r.Tenant, r.Key, ok = strings.Cut(by, "/")
	return r, ok
}
