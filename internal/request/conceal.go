package request

import (
	"slices"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/redact"
)

// NoteGuesses notes which secrets of a server the caller has sent with its request.
func NoteGuesses(q *Request, secrets []string, body []byte) {
	sent := [][]byte{body}
	for _, values := range q.HTTP.Header {
		sent = append(sent, []byte(strings.Join(values, "\n")))
	}
	q.guessed = redact.Guessed(secrets, sent...)
}

// Conceal returns a text of a server without what the server is sent to know the gateway by, unless the
// caller has guessed it, and without the caller's own secret. It is text itself if that has none.
func Conceal(q *Request, text []byte, secrets []string) []byte {
	secrets = slices.DeleteFunc(secrets, func(secret string) bool { return slices.Contains(q.guessed, secret) })
	return redact.Bytes(text, append(secrets, q.Caller.Secret)...)
}
