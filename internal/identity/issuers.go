package identity

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// maxRemembered is how many tokens are remembered: each that is checked anew costs a signature.
const maxRemembered = 10_000

// Deps is what issuers need of others.
type Deps struct {
	// Client asks issuers for their keys. Redirects are not followed.
	Client *http.Client
	Now    func() time.Time
	// Failed is told each time that the keys of an issuer were read: with nil, or why that failed.
	Failed func(issuer string, err error)
}

// Issuers are those of a configuration. They are safe for concurrent use.
type Issuers struct {
	byURL map[string]*keySet
	now   func() time.Time

	mu         sync.Mutex
	remembered map[[sha256.Size]byte]Person // by the token
}

// New checks issuers. Each URL belongs to one of them.
func New(all []Issuer, deps Deps) (*Issuers, error) {
	client := *deps.Client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	s := &Issuers{byURL: make(map[string]*keySet, len(all)), now: deps.Now, remembered: map[[sha256.Size]byte]Person{}}
	for i := range all {
		issuer := &all[i]
		if err := issuer.check(); err != nil {
			return nil, fmt.Errorf("identity %q: %w", issuer.Name, err)
		}
		if other := s.byURL[issuer.URL]; other != nil {
			return nil, fmt.Errorf("identity %q: identity %q has the same issuer", issuer.Name, other.issuer.Name)
		}
		s.byURL[issuer.URL] = &keySet{issuer: issuer, client: &client, now: deps.Now, failed: deps.Failed}
	}
	return s, nil
}

// IsToken reports whether a text has the form of a JWT: three parts, of which the first is an object
// with an algorithm (RFC 7515, section 3.1).
func IsToken(text string) bool {
	head, rest, found := strings.Cut(text, ".")
	if !found || len(text) > maxToken || strings.Count(rest, ".") != 1 {
		return false
	}
	header, err := base64.RawURLEncoding.DecodeString(head)
	if err != nil {
		return false
	}
	var h struct {
		Algorithm string `json:"alg"`
	}
	return json.Unmarshal(header, &h) == nil && h.Algorithm != ""
}

// Person returns whom a token is of. The error wraps ErrInvalid or ErrUnavailable, is a *NoRoleError, or
// that of ctx.
func (s *Issuers) Person(ctx context.Context, token string) (Person, error) {
	sum := sha256.Sum256([]byte(token))
	if p, ok := s.recall(sum); ok {
		return p, nil
	}
	p, err := s.examine(ctx, token)
	if err == nil {
		s.remember(sum, p)
	}
	return p, err
}

func (s *Issuers) examine(ctx context.Context, token string) (p Person, err error) {
	if len(token) > maxToken {
		return p, invalid("it has more than %d bytes", maxToken)
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return p, invalid("%w", err)
	}
	said, err := parseClaims(signed.UnsafePayloadWithoutVerification())
	if err != nil {
		return p, invalid("its claims are no JSON object")
	}
	set := s.byURL[said.text("iss")]
	if set == nil {
		return p, invalid("no identity has its issuer %q", shown(said.text("iss")))
	}
	keys, err := set.find(ctx, &signed.Signatures[0].Protected)
	if err != nil {
		return p, fmt.Errorf("identity %q: %w", set.issuer.Name, err)
	}
	if _, ok := verify(signed, keys); !ok {
		return p, invalid("no key of its issuer has signed it")
	}
	ends, err := said.check(set.issuer, s.now())
	if err != nil {
		return p, err
	}
	if p, err = said.person(set.issuer); err != nil {
		return p, err
	}
	p.Ends = ends
	p.Role, err = said.role(set.issuer)
	return p, err
}

// recall returns whom a token is of that was valid before and has not ended.
func (s *Issuers) recall(sum [sha256.Size]byte) (Person, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.remembered[sum]
	if ok && !s.now().Before(p.Ends) {
		delete(s.remembered, sum)
		ok = false
	}
	return p, ok
}

// remember keeps a token. Where there is no room, some other is left out.
func (s *Issuers) remember(sum [sha256.Size]byte, p Person) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.remembered) >= maxRemembered {
		for other := range s.remembered {
			delete(s.remembered, other)
			break
		}
	}
	s.remembered[sum] = p
}
