package cloudauth

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"time"
)

// certificate signs assertions of who the gateway is (RFC 7523, 2.2), as Microsoft Entra ID wants them:
//
//	{"alg": "PS256", "typ": "JWT", "x5t#S256": fingerprint of the certificate}
//	{"aud": token endpoint, "iss": client id, "sub": client id, "jti", "nbf", "exp"}
type certificate struct {
	key         *rsa.PrivateKey
	fingerprint string
}

// assertionLife is how long an assertion is valid; it is used once, at once.
const assertionLife = 10 * time.Minute

// readCertificate reads a PEM file with a certificate and its RSA key.
func readCertificate(file string) (*certificate, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	c := &certificate{}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		switch block.Type {
		case "CERTIFICATE":
			if c.fingerprint == "" { // the first is the gateway's own
				sum := sha256.Sum256(block.Bytes)
				c.fingerprint = base64.RawURLEncoding.EncodeToString(sum[:])
			}
		case "PRIVATE KEY":
			key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
			if err != nil {
				return nil, fmt.Errorf("%s: the private key cannot be read", file)
			}
			c.key, _ = key.(*rsa.PrivateKey)
		case "RSA PRIVATE KEY":
			if c.key, err = x509.ParsePKCS1PrivateKey(block.Bytes); err != nil {
				return nil, fmt.Errorf("%s: the private key cannot be read", file)
			}
		}
	}
	if c.key == nil || c.fingerprint == "" {
		return nil, fmt.Errorf("%s: want a certificate and its RSA key, not encrypted, in PEM", file)
	}
	return c, nil
}

func (c *certificate) assertion(audience, clientID string, now time.Time) (string, error) {
	encode := func(v any) string {
		text, _ := json.Marshal(v) // of strings and numbers
		return base64.RawURLEncoding.EncodeToString(text)
	}
	signed := encode(map[string]string{"alg": "PS256", "typ": "JWT", "x5t#S256": c.fingerprint}) + "." +
		encode(map[string]any{
			"aud": audience, "iss": clientID, "sub": clientID, "jti": rand.Text(),
			"nbf": now.Unix(), "exp": now.Add(assertionLife).Unix(),
		})
	sum := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPSS(rand.Reader, c.key, crypto.SHA256, sum[:], &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
	if err != nil {
		return "", fmt.Errorf("signing an assertion: %w", err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}
