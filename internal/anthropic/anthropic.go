// Package anthropic holds the wire shapes of Anthropic's Messages API: answers whole and streamed,
// usage, the model list and errors, as Anthropic's SDKs read them. Requests are read by package
// openai/request, like those of the other APIs.
//
// Answers of a provider that has this API pass as they came but for the model's name, as those of
// package openai do:
//
//	out, sum, err := anthropic.Result(nil, answer, call) // a whole answer
//	stream := anthropic.NewStream(call)                  // a streamed one
//
// Facts about the wire are from the SDKs (Python 0.121 and 2.12, TypeScript 0.120 and 1.12, Go 1.60
// and 2.0) and Anthropic's documentation.
package anthropic

import "slices"

// Headers of a request.
const (
	VersionHeader = "Anthropic-Version"
	BetaHeader    = "Anthropic-Beta"
)

// Versions of the API. SDKs before Python 2, TypeScript 1 and Go 2 send the first, later ones the
// second, which refuses temperature, top_p and top_k.
const (
	Version2023 = "2023-06-01"
	Version2026 = "2026-10-21"
)

// KnownVersion reports whether the gateway knows what requests of a version mean.
func KnownVersion(version string) bool {
	return slices.Contains([]string{Version2023, Version2026}, version)
}

// Names of events and of the members that matter in them.
const (
	eventMessageStart = "message_start"
	eventBlockStart   = "content_block_start"
	eventBlockDelta   = "content_block_delta"
	eventBlockStop    = "content_block_stop"
	eventMessageDelta = "message_delta"
	eventMessageStop  = "message_stop"
	eventPing         = "ping"
	eventError        = "error"
)

// Ping is the event that keeps a stream alive. It may come anywhere behind message_start.
var Ping = []byte("event: ping\ndata: {\"type\": \"ping\"}\n\n")

// maxID bounds an id of the provider that is kept, in bytes; Anthropic's have 30.
const maxID = 256
