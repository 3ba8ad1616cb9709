package openai

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

// UpstreamChat turns a caller's chat request into the provider's: the model as
// the provider knows it, and, in a stream, usage always asked for. Padding
// against traffic analysis (include_obfuscation) is between a client and the
// server it talks to, and few providers know the field: it is dropped.
func UpstreamChat(p *jsonscan.Patch, body []byte, members []jsonscan.Member, req ChatRequest, upstreamModel string) {
	p.Set(req.ModelMember, jsonscan.AppendString(nil, upstreamModel))
	if !req.Stream {
		return
	}
	if req.streamOptions >= 0 {
		p.Set(req.streamOptions, upstreamOptions(members[req.streamOptions].Value(body), true))
		return
	}
	if i, ok := jsonscan.Find(body, members, "stream_options"); ok { // null
		p.Set(i, askForUsage)
		return
	}
	p.Add("stream_options", askForUsage)
}

// UpstreamResponses is [UpstreamChat] for a Responses request, whose streams
// always report usage.
func UpstreamResponses(p *jsonscan.Patch, body []byte, members []jsonscan.Member, req ResponsesRequest, upstreamModel string) {
	p.Set(req.ModelMember, jsonscan.AppendString(nil, upstreamModel))
	if req.streamOptions >= 0 {
		p.Set(req.streamOptions, upstreamOptions(members[req.streamOptions].Value(body), false))
	}
}

// upstreamOptions edits a stream_options object.
func upstreamOptions(options []byte, usage bool) []byte {
	members := jsonscan.Members(options, nil)
	p := jsonscan.NewPatch(options, members)
	asked := false
	for i, m := range members {
		switch string(keyOf(options, m)) {
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

// keyOf returns a member's key with its escapes decoded, which only the rare
// escaped key pays for.
func keyOf(object []byte, m jsonscan.Member) []byte {
	key := m.Key(object)
	if m.PlainKey() {
		return key
	}
	s, _ := jsonscan.String(object[m.KeyStart-1 : m.KeyEnd+1])
	return []byte(s)
}
