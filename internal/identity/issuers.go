package identity

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// maxRemembered is how many tokens are remembered: each that is checked anew costs a signature.
const maxRemembered = 10_000

// otherTypes are JWTs that an issuer signs with the same keys and that let nobody in.
var otherTypes = []string{"logout+jwt", "secevent+jwt", "token-introspection+jwt"}

// Deps is what issuers need of others.
type Deps struct {
	// Client asks issuers for their keys. Redirects are not followed.
	Client *http.Client
	Now    func() time.Time
}

// Issuers are those of a configuration. They are safe for concurrent use.
type Issuers struct {
	all   []*keySet          // in the order of the configuration
	byURL map[string]*keySet // those that sign tokens
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
		set := &keySet{issuer: issuer, digest: issuer.digest(), client: &client, now: deps.Now, told: func(string, error) {}}
		s.all = append(s.all, set)
		if issuer.Ambient != nil {
			continue
		}
		if other := s.byURL[issuer.URL]; other != nil {
			return nil, fmt.Errorf("identity %q: identity %q has the same issuer", issuer.Name, other.issuer.Name)
		}
		s.byURL[issuer.URL] = set
	}
	return s, nil
}

// Tell has a function called each time that the keys of an issuer were read: with nil, or why that
// failed. It is called before issuers are used.
func (s *Issuers) Tell(f func(issuer string, err error)) {
	for _, set := range s.byURL {
		set.told = f
	}
}

// Inherit takes over the keys that the issuers of an earlier configuration have: they need not be
// read again, and an issuer that is away stays known. It is called before issuers are used.
func (s *Issuers) Inherit(earlier *Issuers) {
	for url, set := range s.byURL {
		if before := earlier.byURL[url]; before != nil && before.issuer.KeySet == set.issuer.KeySet {
			before.mu.Lock()
			set.keys, set.read = before.keys, before.read
			before.mu.Unlock()
		}
	}
	earlier.mu.Lock()
	defer earlier.mu.Unlock()
	for sum, p := range earlier.remembered {
		if s.Still(p) {
			s.remembered[sum] = p
		}
	}
}

// Still reports whether the issuer that has named somebody is configured as it was then, with its
// rules.
func (s *Issuers) Still(p Person) bool {
	return slices.ContainsFunc(s.all, func(set *keySet) bool { return set.digest == p.By })
}

// IsToken reports whether a text has the form of a JWT: three parts, of which the first is an
// object with an algorithm (RFC 7515, section 3.1).
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

// Knows reports whether a text is a token that says to be of one of the issuers. It may be forged.
func (s *Issuers) Knows(text string) bool {
	if !IsToken(text) {
		return false
	}
	signed, err := jose.ParseSignedCompact(text, algorithms)
	if err != nil {
		return false
	}
	said, err := parseClaims(signed.UnsafePayloadWithoutVerification())
	return err == nil && s.byURL[said.text("iss")] != nil
}

// IsID reports whether a text can be the ID of a person of one of the issuers.
func (s *Issuers) IsID(text string) bool {
	for _, set := range s.all {
		digits, ok := strings.CutPrefix(text, set.issuer.Name+"-")
		if _, err := hex.DecodeString(digits); ok && err == nil && len(digits) == hex.EncodedLen(idBytes) {
			return true
		}
	}
	return false
}

// Person returns whom a token is of. It may wait for the keys of the issuer, a few seconds. The
// error wraps ErrInvalid or ErrUnavailable, or is a *NoRoleError.
func (s *Issuers) Person(token string) (Person, error) {
	if len(token) > maxToken {
		return Person{}, invalid("it has more than %d bytes", maxToken)
	}
	sum := sha256.Sum256([]byte(token))
	if p, ok := s.Recall(sum); ok {
		return p, nil
	}
	p, err := s.examine(token)
	if err == nil {
		s.remember(sum, p)
	}
	return p, err
}

func (s *Issuers) examine(token string) (p Person, err error) {
	said, set, err := s.verified(token)
	if err != nil {
		return p, err
	}
	ends, err := said.check(set.issuer, s.now())
	if err != nil {
		return p, err
	}
	return said.holder(set, ends.Add(leeway))
}

// verified returns the claims of a token that an issuer has signed, and the issuer.
func (s *Issuers) verified(token string) (said claims, set *keySet, err error) {
	// Of one token there is one spelling: others would fill what is remembered.
	for part := range strings.SplitSeq(token, ".") {
		if _, err := base64.RawURLEncoding.Strict().DecodeString(part); err != nil || strings.ContainsAny(part, "\r\n") {
			return nil, nil, invalid("it is not spelled as its issuer does")
		}
	}
	signed, err := jose.ParseSignedCompact(token, algorithms)
	if err != nil {
		return nil, nil, invalid("%w", err)
	}
	if typ, _ := signed.Signatures[0].Protected.ExtraHeaders[jose.HeaderType].(string); slices.Contains(otherTypes, strings.ToLower(typ)) {
		return nil, nil, invalid("it is a %s: no token of access", typ)
	}
	if said, err = parseClaims(signed.UnsafePayloadWithoutVerification()); err != nil {
		return nil, nil, invalid("its claims are no JSON object")
	}
	if set = s.byURL[said.text("iss")]; set == nil {
		return nil, nil, invalid("no identity has its issuer %q", shown(said.text("iss")))
	}
	keys, err := set.find(&signed.Signatures[0].Protected)
	if err != nil {
		return nil, nil, fmt.Errorf("identity %q: %w", set.issuer.Name, err)
	}
	if !verify(signed, keys) {
		return nil, nil, invalid("no key of its issuer has signed it")
	}
	return said, set, nil
}

// Recall returns whom a token with this SHA-256 is of, if it was good before and has not ended.
func (s *Issuers) Recall(sum [sha256.Size]byte) (Person, bool) {
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
