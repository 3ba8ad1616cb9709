package source

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The headers and forms of the Standard Webhooks specification
// (github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md).
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"

	secretPrefix = "whsec_"
	minSecret    = 24 // bytes, as the specification has it
	maxSecret    = 64
	maxSecrets   = 2 // the new and the old one, while it is rotated
)

// parseSecrets reads secrets of 24 to 64 bytes in base64. Errors do not show them.
func parseSecrets(texts []string) (secrets [][]byte, err error) {
	if len(texts) == 0 || len(texts) > maxSecrets {
		return nil, errors.New("secret: give one, or the new and the old one while it is rotated")
	}
	for _, text := range texts {
		key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(text, secretPrefix))
		if err != nil || len(key) < minSecret || len(key) > maxSecret {
			return nil, fmt.Errorf("secret: want %s and the base64 of %d to %d random bytes, as of: echo %s$(openssl rand -base64 32)",
				secretPrefix, minSecret, maxSecret, secretPrefix)
		}
		secrets = append(secrets, key)
	}
	return secrets, nil
}

// sign adds the headers of a question: one signature for each secret, in the order of the secrets.
func (w *webhook) sign(h http.Header, id string, at time.Time, body []byte) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(w.secrets))
	for i, secret := range w.secrets {
		mac := hmac.New(sha256.New, secret)
		_, _ = fmt.Fprintf(mac, "%s.%s.", id, seconds) // a hash never fails
		_, _ = mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	h.Set(headerID, id)
	h.Set(headerTimestamp, seconds)
	h.Set(headerSignature, strings.Join(signatures, " "))
}
