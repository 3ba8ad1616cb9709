// Package translate lets a caller of the Responses API be answered by a
// provider that only has chat completions, and a caller of chat completions by
// one that only has the Responses API.
//
// Nothing here does I/O, reads a clock or invents an id; what a translation
// needs of the outside is handed in. A field of the request is kept, mapped or
// refused by name, as the tables of fields have it and docs/responses.md shows:
// what would change the answer is never dropped in silence.
//
//	chat, echo, err := translate.Request(body, members, req, opt) // what the provider is asked
//	out, sum, err := translate.Result(nil, answer, echo, call, ids) // a whole answer
//	stream := translate.NewStream(echo, call, ids)                  // the same, event by event
//
// The other way round, in the files whose names begin with chat, the last word
// is the family's own, because chat answers differ between the two:
//
//	responses, asked, err := translate.ChatRequest(body, members, req, name)
//	chat, sum, err := translate.ChatResult(answer, asked, call) // for the family's own result
//	stream := translate.NewChatStream(asked, call, family)      // around the family's own stream
//
// Answers pass through the machines of package openai first. So a provider's
// oddities are repaired, its failures put into words and its ends judged by
// the rules that hold without a translation too, and what is left to do here is
// the change of shape.
package translate

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

const (
	// maxItems bounds the output items of an answer and the parts in them,
	// taken together. Each costs state until the end; models make a handful.
	maxItems = 1024

	// maxText bounds, in bytes of JSON, the text, arguments, reasoning and
	// annotations of an answer, which its last events repeat in full. The
	// longest outputs on the market have about 1 MiB.
	maxText = 16 << 20

	// maxLogprobs bounds what is held of log probabilities, in bytes of JSON.
	// With 20 alternatives a token has about 2 KiB.
	maxLogprobs = 64 << 20

	// maxScratch is what a stream keeps of its buffers between two events, and
	// maxRoom of its walks: one chunk of a megabyte is not paid for by a
	// stream held for hours.
	maxScratch = 16 << 10
	maxRoom    = 256
)

// IDs gives what a Response has and a chat completion has not. It is called by
// one goroutine.
type IDs interface {
	// NewID returns a new id of printable ASCII that begins with prefix and
	// an underscore. The prefixes are resp, msg, rs and fc.
	NewID(prefix string) string

	// Unix returns the time in seconds.
	Unix() int64
}

// broken is the failure of a provider that answered nonsense.
func broken(call *openai.Call, reason string) *apierror.Error {
	e := apierror.New(apierror.UpstreamError, "provider %q %s", call.Provider, reason)
	e.Provider = call.Provider
	return e
}

// keyOf returns a member's key with its escapes decoded, which only the rare
// escaped key pays for.
func keyOf(object []byte, m jsonscan.Member) []byte {
	key := m.Key(object)
	if bytes.IndexByte(key, '\\') < 0 {
		return key
	}
	s, _ := jsonscan.String(object[m.KeyStart-1 : m.KeyEnd+1])
	return []byte(s)
}

// inner returns what stands between the quotes of a JSON string, as written.
// It is false for any other value and for an empty string.
func inner(value []byte) ([]byte, bool) {
	if len(value) <= len(`""`) || value[0] != '"' {
		return nil, false
	}
	return value[1 : len(value)-1], true
}
