package responsesonchat

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Original is what the answer needs of the caller's request. [Request] makes it; it does not change
// afterwards.
type Original struct {
	repeated []byte                // members of the response object
	tier     []byte                // service_tier of the request, nil for none
	logprobs bool                  // the caller asked for them
	signed   bool                  // reasoning has its signatures
	names    translate.Names       // the names of chat, by those that the provider got
	tools    map[string]calledTool // those that chat has in another way, by their quoted names in chat
	dropped  []string
}

// DroppedTools returns the types of the tools that were left out of the request.
func (o *Original) DroppedTools() []string { return o.dropped }

// repeatedFields are the members of a response object that repeat the request, with their values
// for a request that does not have them.
var repeatedFields = []struct{ key, absent string }{
	{"instructions", "null"},
	{"max_output_tokens", "null"},
	{"metadata", "{}"},
	{"parallel_tool_calls", "true"},
	{"prompt_cache_key", "null"},
	{"reasoning", `{"effort":null,"summary":null}`},
	{"safety_identifier", "null"},
	{"temperature", "null"},
	{"text", `{"format":{"type":"text"}}`},
	{"tool_choice", `"auto"`},
	{"top_logprobs", "0"},
	{"top_p", "null"},
	{"frequency_penalty", "0"}, // OpenRouter's SDKs need this and the next
	{"presence_penalty", "0"},
	{"user", "null"},
}

// fixedFields are the members that are the same in every translated response. Nothing is stored,
// whether the request asks for it or not.
const fixedFields = `,"background":false,"max_tool_calls":null,"previous_response_id":null,"store":false,"truncation":"disabled"`

// original copies from the request what its answer needs.
func (t *translation) original() *Original {
	body := t.body
	o := &Original{logprobs: t.logprobs, signed: t.signed, tools: t.tools.names.copy(), dropped: t.tools.dropped}
	for _, f := range repeatedFields {
		value := body.Get(f.key)
		if f.key == "max_output_tokens" {
			value = t.limit
		}
		if o.repeated = translate.AppendKey(o.repeated, f.key); value != nil {
			o.repeated = append(o.repeated, value...)
		} else {
			o.repeated = append(o.repeated, f.absent...)
		}
	}
	o.repeated = append(o.repeated, `,"tools":[`...)
	o.repeated = append(o.repeated, t.tools.caller...)
	o.repeated = append(o.repeated, ']')
	o.repeated = append(o.repeated, fixedFields...)
	o.repeated = replaceLineEnds(o.repeated)
	if tier := body.Get("service_tier"); tier != nil {
		o.tier = replaceLineEnds(bytes.Clone(tier))
	}
	return o
}

// replaceLineEnds replaces the line ends of JSON: an event has one line of data. Those of ASCII can
// only be between tokens.
func replaceLineEnds(text []byte) []byte {
	for i, c := range text {
		if c == '\n' || c == '\r' {
			text[i] = ' '
		}
	}
	return escapeSeparators(text)
}

// escapeSeparators escapes U+2028 and U+2029 in JSON, where some readers of lines see the end of
// one.
func escapeSeparators(text []byte) []byte {
	if !bytes.Contains(text, []byte("\u2028")) && !bytes.Contains(text, []byte("\u2029")) {
		return text
	}
	text = bytes.ReplaceAll(text, []byte("\u2028"), []byte(`\u2028`))
	return bytes.ReplaceAll(text, []byte("\u2029"), []byte(`\u2029`))
}
