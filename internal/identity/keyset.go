package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// freshFor is how long keys are used before they are read again.
	freshFor = time.Hour
	// usableFor is how long keys are used while the issuer does not answer.
	usableFor = 24 * time.Hour
	// readEvery is how often keys are read at most: a token with an unknown key costs its sender
	// nothing.
	readEvery = time.Minute
	// readAgain is how soon keys are read again after that has failed.
	readAgain = 5 * time.Second
	// readTimeout bounds the reading of keys, with that of the OpenID configuration.
	readTimeout = 5 * time.Second

	// maxDocument bounds what an issuer answers, in bytes, and maxKeys its keys.
	maxDocument = 256 << 10
	maxKeys     = 64
)

// keySet is what an issuer signs with: its JSON Web Key Set (RFC 7517, section 5).
type keySet struct {
	issuer *Issuer
	digest string // of the issuer
	client *http.Client
	now    func() time.Time
	told   func(issuer string, err error) // called after each reading, with nil after a good one

	mu     sync.Mutex
	keys   []jose.JSONWebKey
	read   time.Time     // when keys came; zero: never
	due    time.Time     // before this nothing is read
	failed bool          // the last reading
	busy   chan struct{} // closed when the reading that is under way has ended; nil: none is
}

// find returns the keys that can have made a signature with this header. The error is
// ErrUnavailable.
func (s *keySet) find(header *jose.Header) ([]jose.JSONWebKey, error) {
	for {
		s.mu.Lock()
		now := s.now()
		found := s.fitting(header, now)
		busy, old := s.busy, now.Sub(s.read) >= freshFor
		switch {
		case len(found) > 0 && (!old || busy != nil || now.Before(s.due)):
			s.mu.Unlock()
			return found, nil
		case busy == nil && now.Before(s.due):
			known := s.usable(now) && !s.failed
			s.mu.Unlock()
			if !known {
				return nil, ErrUnavailable
			}
			return nil, nil
		case busy == nil:
			busy = make(chan struct{})
			s.busy, s.due = busy, now.Add(readEvery)
			s.mu.Unlock()
			s.refresh(busy)
			continue
		}
		s.mu.Unlock()
		<-busy // it has readTimeout
	}
}

func (s *keySet) usable(now time.Time) bool { return !s.read.IsZero() && now.Sub(s.read) < usableFor }

// fitting returns those keys that the header names: by their id or, without one, by their
// algorithm.
func (s *keySet) fitting(header *jose.Header, now time.Time) (found []jose.JSONWebKey) {
	if !s.usable(now) {
		return nil
	}
	for _, key := range s.keys {
		if (header.KeyID == "" || key.KeyID == header.KeyID) && (key.Algorithm == "" || key.Algorithm == header.Algorithm) {
			found = append(found, key)
		}
	}
	return found
}

// refresh reads the keys. If that fails, those stay that there are. No caller ends it for the
// others.
func (s *keySet) refresh(busy chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	var keys []jose.JSONWebKey
	err := errors.New("the reading has ended early")
	defer func() { // also if it panics: others wait
		s.mu.Lock()
		if s.failed = err != nil; s.failed {
			s.due = s.now().Add(readAgain)
		} else {
			s.keys, s.read = keys, s.now()
		}
		s.busy = nil
		s.mu.Unlock()
		close(busy)
		s.told(s.issuer.Name, err)
	}()
	keys, err = s.fetch(ctx)
}

func (s *keySet) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	at := s.issuer.KeySet
	if at == "" {
		found, err := s.discover(ctx)
		if err != nil {
			return nil, err
		}
		at = found.Keys
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := s.get(ctx, at, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("it has %d keys; at most %d are read", len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, text := range set.Keys {
		var key jose.JSONWebKey
		// A key of another kind is of an algorithm that is not used here.
		if key.UnmarshalJSON(text) == nil && key.Valid() && key.IsPublic() && key.Use != "enc" {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no key that signs")
	}
	return keys, nil
}

// discover reads the OpenID configuration of the issuer.
func (s *keySet) discover(ctx context.Context) (found Discovered, err error) {
	// OpenID Connect Discovery 1.0, section 4: without the slash at the issuer's end.
	if err := s.get(ctx, strings.TrimSuffix(s.issuer.URL, "/")+"/.well-known/openid-configuration", &found); err != nil {
		return found, err
	}
	if found.Issuer != s.issuer.URL && !isEntra(s.issuer.URL) { // which has {tenantid} there
		return found, fmt.Errorf("its OpenID configuration is of the issuer %q", shown(found.Issuer))
	}
	return found, nil
}

// get reads a document. A redirect is not followed.
func (s *keySet) get(ctx context.Context, at string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	if !secure(r.URL) {
		return fmt.Errorf("%q is no https URL", shown(at))
	}
	r.Header.Set("Accept", "application/json")
	answer, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers with status %d", at, answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err != nil {
		return err
	}
	if len(text) > maxDocument {
		return fmt.Errorf("%s has more than %d bytes", at, maxDocument)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s is not the JSON that is wanted: %w", at, err)
	}
	return nil
}

// algorithms are those of signatures that are good: asymmetric ones, as nobody else has the key.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// verify reports whether one of the keys has signed a token.
func verify(token *jose.JSONWebSignature, keys []jose.JSONWebKey) bool {
	return slices.ContainsFunc(keys, func(key jose.JSONWebKey) bool {
		_, err := token.Verify(key.Key)
		return err == nil
	})
}
