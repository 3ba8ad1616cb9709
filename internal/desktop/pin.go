package desktop

import (
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"strings"
)

// PinKey has a TLS configuration accept one public key, and no other certificate. The key is
// "sha256:<64 hex digits>" of its SubjectPublicKeyInfo.
func PinKey(config *tls.Config, key string) error {
	digits, ok := strings.CutPrefix(key, "sha256:")
	pin, err := hex.DecodeString(digits)
	if !ok || err != nil || len(pin) != sha256.Size {
		return errors.New("pinned_key: want sha256: and 64 hex digits")
	}
	config.InsecureSkipVerify = true // VerifyConnection is stricter
	config.VerifyConnection = func(state tls.ConnectionState) error { return checkPin(pin, state.PeerCertificates) }
	return nil
}

var errPin = errors.New("the VNC server's key is not the pinned one")

func checkPin(pin []byte, chain []*x509.Certificate) error {
	if len(chain) == 0 {
		return errPin
	}
	sum := sha256.Sum256(chain[0].RawSubjectPublicKeyInfo)
	if subtle.ConstantTimeCompare(sum[:], pin) != 1 {
		return errPin
	}
	return nil
}
