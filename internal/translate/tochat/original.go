package tochat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Original is what the answer needs of the caller's request. [Request] makes it; it does not change
// afterwards.
type Original struct {
	fields   []byte // members of the response object, each with a leading comma
	tier     []byte // service_tier as asked, nil if it was not
	tools    []byte // as a Response shows them
	logprobs bool   // they were asked for
}

// echoed are the members of a response object that repeat the request, with
// what stands there when the request has none.
var echoed = []struct{ key, otherwise string }{
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

// fixed are the members that are the same in every translated response.
// Nothing is stored, whatever the request says.
const fixed = `,"background":false,"max_tool_calls":null,"previous_response_id":null,"store":false,"truncation":"disabled"`

// build takes what there is to repeat, once for all objects that repeat it. The limit is what the
// provider was told.
func (e *Original) build(body translate.Object, limit []byte) {
	for _, f := range echoed {
		e.fields = append(e.fields, ',', '"')
		e.fields = append(e.fields, f.key...)
		e.fields = append(e.fields, '"', ':')
		value := body.Get(f.key)
		if f.key == "max_output_tokens" {
			value = limit
		}
		if value != nil {
			e.fields = append(e.fields, value...)
		} else {
			e.fields = append(e.fields, f.otherwise...)
		}
	}
	e.fields = append(e.fields, `,"tools":`...)
	if e.tools != nil {
		e.fields = append(e.fields, e.tools...)
	} else {
		e.fields = append(e.fields, "[]"...)
	}
	e.fields = append(e.fields, fixed...)
	unwrap(e.fields)
	e.tools = nil
	if tier := body.Get("service_tier"); tier != nil {
		e.tier = append(e.tier, tier...)
		unwrap(e.tier)
	}
}

// addTool repeats a function with all the keys that SDKs look for.
func (e *Original) addTool(tool translate.Object) {
	if len(e.tools) > 1 {
		e.tools = append(e.tools, ',')
	}
	p := jsonscan.NewPatch(tool.Data(), tool.Members())
	for _, key := range []string{"description", "parameters", "strict"} {
		if _, ok := jsonscan.Find(tool.Data(), tool.Members(), key); !ok {
			p.Add(key, []byte("null"))
		}
	}
	e.tools = p.Append(e.tools)
}

// unwrap replaces the line ends of JSON, which can only stand between tokens:
// a line of an event must not break.
func unwrap(text []byte) {
	for i, c := range text {
		if c == '\n' || c == '\r' {
			text[i] = ' '
		}
	}
}
