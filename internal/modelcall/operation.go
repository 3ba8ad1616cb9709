package modelcall

import (
	"crypto/rand"
	"net/http"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/failover"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Operation is an API of model calls as callers use it: [Chat], [Responses],
// [Messages] or [Embeddings].
type Operation interface {
	// kind is the operation's name at providers and in the catalog.
	kind() provider.Operation
	// messages is the field that has the messages.
	messages() string
	// parse reads what the gateway acts on. The error is a 400.
	parse(b *jsonscan.Body, h http.Header) (params.Request, error)
	// requestedLimits reads how much the request asks for. The error is a 400.
	requestedLimits(b *jsonscan.Body) (params.RequestedLimits, error)
	// references reads what the request asks of the provider's account. The tools are complete with an
	// error too, which is a 400.
	references(b *jsonscan.Body) (params.Refs, error)
	// heartbeat is what keeps the stream of a caller alive.
	heartbeat(h http.Header) heartbeat
	// encode writes the request for a target: as it is with a few edits, or translated. The error is
	// a 400.
	encode(e encoding) (*sending, error)
}

// The operations.
var (
	Chat       Operation = chat{}
	Responses  Operation = responses{}
	Messages   Operation = messages{}
	Embeddings Operation = embeddings{}
)

// API is how the SDKs of a family want to be answered.
type API interface {
	// ShowRate sets the headers that show a rate in an answer.
	ShowRate(h http.Header, r *apierror.Rate, now time.Time)
}

// ChatAPI is a family that has chat completions.
type ChatAPI interface {
	API
	// ChatResult appends a chat completion of a provider in the family's shape.
	ChatResult(dst, body []byte, call openai.Call, p Pricer) ([]byte, openai.Summary, error)
	// ChatStream returns the same for a stream.
	ChatStream(call openai.Call, p Pricer) openai.DeltaStream
	// ResponseDefaults are the members that the SDKs require of a Response, nil for none.
	ResponseDefaults() []openai.Default
}

// Pricer knows what a call costs.
type Pricer interface {
	// Cost returns the price of the usage in nano-USD, and whether it is known.
	Cost(u openai.Usage) (nano int64, known bool)
}

// encoding is what an operation needs to write a request for a target.
type encoding struct {
	body      *jsonscan.Body
	inbound   http.Header // of the caller
	query     string      // of the caller's URL
	asked     params.Request
	requested params.RequestedLimits
	target    *target
	output    int64             // the output limit that the provider must be told; 0: the caller's own
	maxPrice  *routerPrice      // that the provider must be told; nil for none
	routing   *failover.Routing // what the gateway made of the routing fields; nil: nothing
	api       API
	pricer    Pricer
	answer    openai.Call
	ids       responseIDs
	sealed    *sealed
}

// openRouter reports whether the provider knows the request fields that only OpenRouter has.
func (e encoding) openRouter() bool { return e.target.provider.Dialect.OpenRouterFields() }

// setPreferences tells a router which upstreams it may choose. Where the gateway has nothing to say, it
// gets the caller's own bytes.
func (e encoding) setPreferences() error {
	if !e.openRouter() || e.routing == nil && e.maxPrice == nil {
		return nil
	}
	object, err := e.preferences()
	if err == nil {
		openrouter.SetProvider(e.body, object)
	}
	return err
}

// appendPreferences is setPreferences for a translated request, which has no preferences yet.
func (e encoding) appendPreferences(body []byte) ([]byte, error) {
	if !e.openRouter() {
		return body, nil
	}
	object, err := e.preferences()
	if err != nil {
		return nil, err
	}
	return openrouter.AppendProvider(body, object), nil
}

// preferences returns the object `provider` that a router gets, nil for none.
func (e encoding) preferences() (object []byte, err error) {
	if e.routing != nil {
		object = e.routing.Forward
	} else if object, err = openrouter.Preferences(e.body); err != nil {
		return nil, err
	}
	if p := e.maxPrice; p != nil {
		object = openrouter.WithMaxPrice(object, p.prompt, p.completion)
	}
	return object, nil
}

// sending is a request in the form of a provider.
type sending struct {
	operation provider.Operation
	body      [][]byte
	header    http.Header // in addition to the provider's own; nil for none
	query     string      // likewise
	stream    bool
	answer    answer

	droppedTools []string // types of tools that the request is sent without
	leftOut      []string // likewise fields, as the caller calls them
}

// answer turns a provider's answer into the caller's.
type answer interface {
	// whole appends an answer in one piece. The summary is valid with an error too.
	whole(dst, body []byte) ([]byte, openai.Summary, error)
	stream() openai.Stream
}

// responseIDs are the names that a translated Response has and a chat completion does not.
type responseIDs struct {
	requestID string
	created   int64 // seconds since 1970
}

const (
	requestPrefix  = "req_"
	responsePrefix = "resp_"
	messagePrefix  = "msg_"
)

// message names a translated message after the request.
func (ids responseIDs) message() string {
	return messagePrefix + strings.TrimPrefix(ids.requestID, requestPrefix)
}

// NewID names the response after the request, so that the activity is found by the only id that a
// client of such an answer gets.
func (ids responseIDs) NewID(prefix string) string {
	if prefix+"_" == responsePrefix {
		return responsePrefix + strings.TrimPrefix(ids.requestID, requestPrefix)
	}
	return prefix + "_" + strings.ToLower(rand.Text())
}

// Unix returns when the request began, in seconds.
func (ids responseIDs) Unix() int64 { return ids.created }

// RequestOf returns the id of the request after which a translated response or message was named.
func RequestOf(answerID string) (requestID string, ok bool) {
	for _, prefix := range [...]string{responsePrefix, messagePrefix} {
		if rest, ok := strings.CutPrefix(answerID, prefix); ok {
			return requestPrefix + rest, true
		}
	}
	return "", false
}
