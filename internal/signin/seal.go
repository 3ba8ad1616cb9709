package signin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// minSecret is how long a secret of a sealer must be, in bytes: it is not tried out.
const minSecret = 32

// Sealer encrypts what is kept elsewhere: in cookies, in rows. It is safe for concurrent use.
type Sealer struct {
	keys    []cipher.AEAD // the first encrypts
	durable bool
}

// NewSealer returns one by secrets: the first encrypts, all decrypt, so that one can follow
// another. Without secrets it has one of its own, which ends with the process.
func NewSealer(secrets ...string) (*Sealer, error) {
	s := &Sealer{durable: len(secrets) > 0}
	if !s.durable {
		raw := make([]byte, minSecret)
		_, _ = rand.Read(raw) // never fails
		secrets = []string{string(raw)}
	}
	for _, secret := range secrets {
		if len(secret) < minSecret {
			return nil, fmt.Errorf("the secret has %d bytes; at least %d are needed, as `openssl rand -base64 32` makes them", len(secret), minSecret)
		}
		const keyBytes = 32 // AES-256
		key, err := hkdf.Key(sha256.New, []byte(secret), nil, "gatehouse sign-ins", keyBytes)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, err
		}
		// Of random nonces 2^32 are safe: a sign-in each second for a hundred years.
		sealing, err := cipher.NewGCMWithRandomNonce(block)
		if err != nil {
			return nil, err
		}
		s.keys = append(s.keys, sealing)
	}
	return s, nil
}

// OfTheProcess returns one with a secret of its own, which ends with the process.
func OfTheProcess() *Sealer {
	s, err := NewSealer()
	if err != nil {
		panic(err) // of AES with a key of its length
	}
	return s
}

// Durable reports whether the secrets are configured: what is sealed can be opened after a restart,
// and by other gateways.
func (s *Sealer) Durable() bool { return s.durable }

// Seal encrypts a text for a purpose.
func (s *Sealer) Seal(purpose, text string) string {
	return base64.RawURLEncoding.EncodeToString(s.keys[0].Seal(nil, nil, []byte(text), []byte(purpose)))
}

// Open returns a text that Seal has encrypted for the same purpose.
func (s *Sealer) Open(purpose, sealed string) (text string, ok bool) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	if err != nil {
		return "", false
	}
	for _, key := range s.keys {
		if text, err := key.Open(nil, nil, raw, []byte(purpose)); err == nil {
			return string(text), true
		}
	}
	return "", false
}
