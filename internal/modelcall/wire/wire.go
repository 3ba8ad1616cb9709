// Package wire has the APIs of model calls as values: those that callers speak ([Operation]) and those
// that providers have ([Wire]). A row of an operation says how its requests reach a provider:
//
//	caller --Operation.Parse--> Encoding --Route.Encode--> Sending --> provider
//	caller <------------------- Sending.Answer (whole, or a stream) <-- provider
//
// Where caller and provider have the same API the caller's bytes are sent with a few edits; else a
// package below translate makes another request of them. A provider with a protocol of its own is
// made to look like one that has an API: see package adapter.
package wire

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/anthropic"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/adapter"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Wire is an API of providers.
type Wire struct {
	Name provider.Operation // in the catalog, and in the dialects' paths
	// Bytes are media types, or their beginnings, of answers that pass as they come. If there are any, the
	// Content-Type of each answer decides how it passes: as events, as JSON in one piece, or so.
	Bytes []string
	// Texts are likewise media types of answers that are plain text: they pass in one piece.
	Texts []string
	// APIType is the value of openai.api.type in spans, "" for none.
	APIType string
	// Guardrail is the form in which guardrails read events.
	Guardrail guardrail.Wire
	// Usage reads the usage in an event. Nil: as OpenAI's and Anthropic's events have it.
	Usage func(event []byte) (openai.Usage, bool)
	// Events returns a whole answer as the events of a stream: small servers do not stream, whatever
	// they are asked. Nil: no stream is ever asked for.
	Events func(dst, body []byte, call openai.Call) ([]byte, openai.Summary, error)
	// Passes says that large answers pass as they come: of one in one piece, Answer.Whole needs no more
	// than its outline.
	Passes bool
	// Optional says that providers may have the rest of the API without it. Such a one answers 404 or 405
	// without an error of the API.
	Optional bool
	// StreamOptions says that a stream is asked for its usage by stream_options, which some providers refuse.
	StreamOptions bool
	// MaxEvent bounds an event of a provider, in bytes. 0: the usual bound.
	MaxEvent int
	// End is the event that ends a stream whose provider leaves it open, none for an API whose streams
	// end with the connection.
	End Event
}

// Typed reports whether the Content-Type of an answer decides how it passes.
func (w *Wire) Typed() bool { return w.Bytes != nil || w.Texts != nil }

// PassesBytes reports whether an answer of a media type passes as it comes.
func (w *Wire) PassesBytes(media string) bool { return begins(media, w.Bytes) }

// IsText reports whether an answer of a media type is plain text.
func (w *Wire) IsText(media string) bool { return begins(media, w.Texts) }

func begins(media string, with []string) bool {
	return slices.ContainsFunc(with, func(begin string) bool { return strings.HasPrefix(media, begin) })
}

// Event is a server-sent event.
type Event struct{ Name, Data []byte }

// The APIs of providers.
var (
	chatWire      = &Wire{Name: provider.Chat, APIType: "chat_completions", Guardrail: guardrail.Chat, Events: openai.ChatEvents, StreamOptions: true}
	responsesWire = &Wire{Name: provider.Responses, APIType: "responses", Guardrail: guardrail.Responses, Events: openai.ResponsesEvents}
	messagesWire  = &Wire{
		Name: provider.Messages, Guardrail: guardrail.Messages, Events: anthropic.Events,
		End: Event{[]byte("message_stop"), []byte(`{"type":"message_stop"}`)},
	}
	countWire      = &Wire{Name: provider.CountTokens}
	inputWire      = &Wire{Name: provider.InputTokens}
	compactWire    = &Wire{Name: provider.Compact, Optional: true}
	embeddingsWire = &Wire{Name: provider.Embeddings}

	rerankWire      = &Wire{Name: provider.Rerank}
	moderationsWire = &Wire{Name: provider.Moderations}
	completionsWire = &Wire{Name: provider.Completions, Guardrail: guardrail.Chat, Events: completionEvents, StreamOptions: true}
	imagesWire      = &Wire{Name: provider.Images, Guardrail: guardrail.Responses, Events: openai.ImageEvents("image_generation", "created_at"), MaxEvent: maxPicture, Passes: true}
	routerImages    = &Wire{Name: provider.RouterImages, Guardrail: guardrail.Responses, Events: openai.ImageEvents("image_generation", "created"), MaxEvent: maxPicture, Passes: true}
	imageEditsWire  = &Wire{Name: provider.ImageEdits, Guardrail: guardrail.Responses, Events: openai.ImageEvents("image_edit", "created_at"), MaxEvent: maxPicture, Passes: true}

	speechWire = &Wire{Name: provider.Speech, Guardrail: guardrail.Sound, Bytes: []string{"audio/", "application/octet-stream"}}

	transcriptionsWire = &Wire{Name: provider.Transcriptions, Guardrail: guardrail.Responses, Texts: transcripts}
	translationsWire   = &Wire{Name: provider.Translations, Guardrail: guardrail.Responses, Texts: transcripts}
)

// maxPicture bounds an event with a picture, in bytes: one of 4K has up to 25 MB, and base64 a third more.
const maxPicture = 64 << 20

// transcripts are the media types of text, srt and vtt.
var transcripts = []string{"text/plain", "text/vtt", "text/srt", "application/x-subrip"}

// API is how the SDKs of a family want to be answered.
type API interface {
	// ShowRate sets the headers that show a rate in an answer.
	ShowRate(h http.Header, r *apierror.Rate, now time.Time)
}

// BudgetAPI is a family with a client that shows its person a budget.
type BudgetAPI interface {
	// ShowBudget sets the headers of an answer that show how much of a budget is spent.
	ShowBudget(h http.Header, b *apierror.Budget)
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

// Sending is a request in the form of a provider.
type Sending struct {
	Wire     *Wire
	Response string // id of the one that the request is about; "": it is for a model
	Body     [][]byte
	Header   http.Header // in addition to the provider's own; nil for none
	Query    string      // likewise
	Stream   bool
	Answer   Answer
	// Adapted says how the provider's answer becomes one of the wire; nil: it is one.
	Adapted *adapter.Adapted

	DroppedTools []string // types of tools that the request is sent without
	LeftOut      []string // likewise fields, as the caller calls them
}

// StreamsUpstream reports whether the provider is asked for a stream.
func (s *Sending) StreamsUpstream() bool {
	return s.Stream || s.Adapted != nil && s.Adapted.Stream
}

// Answer turns a provider's answer into the caller's.
type Answer interface {
	// Whole appends an answer in one piece. The summary is valid with an error too.
	Whole(dst, body []byte) ([]byte, openai.Summary, error)
	Stream() openai.Stream
}

// IDs are the names that a translated answer has and the provider's does not.
type IDs struct {
	RequestID string
	Created   int64 // seconds since 1970
}

const (
	requestPrefix  = "req_"
	responsePrefix = "resp_"
	messagePrefix  = "msg_"
)

// message names a translated message after the request.
func (ids IDs) message() string {
	return messagePrefix + strings.TrimPrefix(ids.RequestID, requestPrefix)
}

// NewID names the response after the request, so that the activity is found by the only id that a
// client of such an answer gets.
func (ids IDs) NewID(prefix string) string {
	if prefix+"_" == responsePrefix {
		return responsePrefix + strings.TrimPrefix(ids.RequestID, requestPrefix)
	}
	return prefix + "_" + strings.ToLower(rand.Text())
}

// Unix returns when the request began, in seconds.
func (ids IDs) Unix() int64 { return ids.Created }

// RequestOf returns the id of the request after which a translated response or message was named.
func RequestOf(answerID string) (requestID string, ok bool) {
	for _, prefix := range [...]string{responsePrefix, messagePrefix} {
		if rest, ok := strings.CutPrefix(answerID, prefix); ok {
			return requestPrefix + rest, true
		}
	}
	return "", false
}
