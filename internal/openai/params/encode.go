package params

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

var (
	jsonTrue    = []byte("true")
	askForUsage = []byte(`{"include_usage":true}`)
)

const (
	optionsField = "stream_options"
	includeUsage = "include_usage"
	obfuscation  = "include_obfuscation"
)

// EncodeChat turns a caller's chat request into the provider's: the model as the provider knows it
// and, in a stream, a request for usage unless the provider refuses that. Padding against traffic analysis
// (include_obfuscation) is between a client and the server it talks to, and few providers know the
// field: it is dropped.
func EncodeChat(b *jsonscan.Body, req Request, upstreamModel string, refusesOptions bool) {
	req.setModel(b, upstreamModel)
	if !req.Stream {
		return
	}
	if refusesOptions {
		if i, ok := b.Find(optionsField); ok {
			b.Drop(i)
		}
		return
	}
	if req.streamOptions >= 0 {
		b.Set(req.streamOptions, upstreamOptions(b.Value(req.streamOptions), true))
		return
	}
	if i, ok := b.Find(optionsField); ok { // null
		b.Set(i, askForUsage)
		return
	}
	b.Add(optionsField, askForUsage)
}

// WithoutStreamOptions returns a request for a provider without stream_options, nil if it has none.
func WithoutStreamOptions(body []byte) []byte {
	members := jsonscan.Members(body, nil)
	i, ok := jsonscan.Find(body, members, optionsField)
	if !ok {
		return nil
	}
	p := jsonscan.NewPatch(body, members)
	p.Drop(i)
	return p.Append(nil)
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
