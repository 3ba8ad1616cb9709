package wire

import (
	"context"
	"net/http"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// Dial opens a WebSocket by a handshake, see [provider.Endpoint.Handshake]. The answer of who
// refuses it comes with the error; its body is short.
type Dial func(ctx context.Context, handshake http.RoundTripper) (*http.Response, error)

var realtimeWire = &Wire{Name: provider.Realtime, Guardrail: guardrail.Responses, Optional: true}

// Realtime is OpenAI's Realtime API: a session over a WebSocket, and each part of it.
var Realtime = &Operation{
	Name: provider.Realtime, Span: "chat", List: "input", Generates: true,
	Parse:  inBody(params.ParseRealtime),
	Limits: params.RealtimeLimits, References: params.RealtimeReferences, Fields: params.RealtimeFields,
	Content: func(b *jsonscan.Body, _ http.Header) params.Content { return params.RealtimeContent(b) },
	Routes:  []Route{{Wire: realtimeWire, Encode: encodeRealtime}},
}

// Transcript is what a model of its own writes of what a caller says in such a session.
var Transcript = &Operation{
	Name: provider.Transcriptions, Span: "transcription", Units: true, Made: transcript,
	Parse: Realtime.Parse, Limits: params.TranscriptLimits, References: Realtime.References, Fields: Realtime.Fields, Content: contentOf,
	Routes: []Route{{Wire: transcriptionsWire, Encode: encodeRealtime}},
}

// encodeRealtime writes a part of a session, with the model as the provider calls it. A session is
// asked for by the query alone.
func encodeRealtime(e Encoding) (*Sending, error) {
	if e.Output > 0 {
		e.Requested.SetOutput(e.Body, "", e.Output)
	}
	params.EncodeList(e.Body, e.Asked, e.Model.Name)
	return &Sending{Wire: realtimeWire, Body: e.Body.Segments(nil), Query: url.Values{"model": {e.Model.Name}}.Encode()}, nil
}
