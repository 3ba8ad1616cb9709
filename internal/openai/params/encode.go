package params

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

var (
	jsonTrue    = []byte("true")
	askForUsage = []byte(`{"include_usage":true}`)
)

const (
	includeUsage = "include_usage"
	obfuscation  = "include_obfuscation"
)

// EncodeChat turns a caller's chat request into the provider's: the model as the provider knows it
// and, in a stream, always a request for usage. Padding against traffic analysis
// (include_obfuscation) is between a client and the server it talks to, and few providers know the
// field: it is dropped.
func EncodeChat(b *jsonscan.Body, req Request, upstreamModel string) {
	req.setModel(b, upstreamModel)
	if !req.Stream {
		return
	}
	if req.streamOptions >= 0 {
		b.Set(req.streamOptions, upstreamOptions(b.Value(req.streamOptions), true))
		return
	}
	if i, ok := b.Find("stream_options"); ok { // null
		b.Set(i, askForUsage)
		return
	}
	b.Add("stream_options", askForUsage)
}

// EncodeResponses is [EncodeChat] for a Responses request, whose streams always report usage.
func EncodeResponses(b *jsonscan.Body, req Request, upstreamModel string) {
	req.setModel(b, upstreamModel)
	if req.streamOptions >= 0 {
		b.Set(req.streamOptions, upstreamOptions(b.Value(req.streamOptions), false))
	}
}

// upstreamOptions edits a stream_options object.
func upstreamOptions(options []byte, usage bool) []byte {
	members := jsonscan.Members(options, nil)
	p := jsonscan.NewPatch(options, members)
	asked := false
	for i, m := range members {
		switch string(m.DecodedKey(options)) {
		case includeUsage:
			switch {
			case !usage:
			case asked: // a repeated key: one answer is enough
				p.Drop(i)
			default:
				p.Set(i, jsonTrue)
				asked = true
			}
		case obfuscation:
			p.Drop(i)
		}
	}
	if usage && !asked {
		p.Add(includeUsage, jsonTrue)
	}
	return p.Append(nil)
}
