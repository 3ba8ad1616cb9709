package authserver

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/signin"
)

// ID names a record of the store.
type ID [16]byte

// Sum is the SHA-256 of a token.
type Sum [sha256.Size]byte

// The kinds of tokens are told apart by their beginnings.
const (
	accessPrefix  = "gha-"
	refreshPrefix = "ghr-"
	devicePrefix  = "ghd-"
	codePrefix    = "ghc-"
)

// A token is, after its prefix and in base64url:
//
//	16 bytes  the ID of its record
//	32 bytes  random
//	 8 bytes  the beginning of a MAC of all before it: guesses do not reach the store
const (
	randomSize = 32
	tagSize    = 8
	tokenSize  = len(ID{}) + randomSize + tagSize
)

// secretKeys are those of a configuration, derived for each purpose.
type secretKeys struct {
	tags   [][]byte
	sealer *signin.Sealer
}

func newKeys(texts []string) (*secretKeys, error) {
	if len(texts) == 0 {
		return nil, errors.New("key is missing: it protects the tokens of identity providers in the database")
	}
	k := new(secretKeys)
	for _, text := range texts {
		if len(text) < MinKey {
			return nil, fmt.Errorf("key: want at least %d characters, such as those of openssl rand -base64 32", MinKey)
		}
		tag, err := hkdf.Key(sha256.New, []byte(text), nil, "gatehouse token tags", sha256.Size)
		if err != nil {
			return nil, err
		}
		k.tags = append(k.tags, tag)
	}
	var err error
	k.sealer, err = signin.NewSealer(texts...)
	return k, err
}

// newToken returns a token of a record.
func (k *secretKeys) newToken(prefix string, id ID) (token string, sum Sum) {
	text := make([]byte, tokenSize)
	copy(text, id[:])
	_, _ = rand.Read(text[len(id) : tokenSize-tagSize]) // never fails (crypto/rand)
	copy(text[tokenSize-tagSize:], tagOf(k.tags[0], prefix, text[:tokenSize-tagSize]))
	token = prefix + base64.RawURLEncoding.EncodeToString(text)
	return token, sha256.Sum256([]byte(token))
}

// parse returns the record that a token belongs to. Ok is false for a text that no gateway with one
// of the keys has given out.
func (k *secretKeys) parse(prefix, token string) (id ID, sum Sum, ok bool) {
	rest, found := strings.CutPrefix(token, prefix)
	if !found || len(rest) != base64.RawURLEncoding.EncodedLen(tokenSize) {
		return id, sum, false
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if err != nil || len(text) != tokenSize { // line breaks are left out
		return id, sum, false
	}
	for _, key := range k.tags {
		if hmac.Equal(tagOf(key, prefix, text[:tokenSize-tagSize]), text[tokenSize-tagSize:]) {
			return ID(text[:len(id)]), sha256.Sum256([]byte(token)), true
		}
	}
	return id, sum, false
}

func tagOf(key []byte, prefix string, text []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(prefix))
	mac.Write(text)
	return mac.Sum(nil)[:tagSize]
}

// seal encrypts a token of an identity provider for a record; "" stays nothing.
func (k *secretKeys) seal(id ID, text string) []byte {
	if text == "" {
		return nil
	}
	return []byte(k.sealer.Seal(sealedFor(id), text))
}

// unseal is the opposite of seal.
func (k *secretKeys) unseal(id ID, sealed []byte) (string, error) {
	text, ok := k.sealer.Open(sealedFor(id), string(sealed))
	if !ok {
		return "", errors.New("no key of the configuration has encrypted it")
	}
	return text, nil
}

// sealedFor is the purpose of what is encrypted for a record: it opens for no other one.
func sealedFor(id ID) string { return "record " + string(id[:]) }

// rawText is a name that nobody guesses.
func rawText() string {
	text := make([]byte, randomSize)
	_, _ = rand.Read(text) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(text)
}

func newID() (id ID) {
	_, _ = rand.Read(id[:]) // never fails (crypto/rand)
	return id
}

// idOf returns the ID of a record that is found by a text.
func idOf(kind Kind, text string) ID {
	sum := sha256.Sum256([]byte(string(kind) + "\n" + text))
	return ID(sum[:len(ID{})])
}

func encodeHex(b []byte) []byte { return hex.AppendEncode(nil, b) }

func decodeHex(to, text []byte) error {
	if len(text) != hex.EncodedLen(len(to)) {
		return fmt.Errorf("a hash of %d digits", len(text))
	}
	_, err := hex.Decode(to, text)
	return err
}
