// Package params reads and edits requests for chat completions, Responses and messages, as the SDKs
// of OpenAI and Anthropic send them. Those of OpenRouter's SDKs only have more fields, which package
// openrouter knows.
//
// Every function takes the [jsonscan.Body] of a request, which is parsed once for all of them. The
// functions that judge a request read the body as the caller sent it. The others add their edits to
// the body and leave every other byte alone:
//
//	req, err := params.ParseChat(b)           // what the caller asks
//	limits, err := params.ChatLimits(b)       // how much it asks for
//	refs, err := params.References(b)         // stored state and tools that it names
//	content := params.ContentOf(b)            // what costs more than its bytes
//	limits.SetOutput(b, "max_tokens", 1000)    // the cap of its output
//	request.EncodeChat(b, req, upstreamModel)  // what the provider is asked
package params

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Request is what the gateway acts on in a request.
type Request struct {
	Model        string
	Stream       bool  // `stream` is true; null and absent are false
	Choices      int64 // n of a chat, not checked; 1 if absent
	IncludeUsage bool  // `stream_options.include_usage` is true; chat only
	Array        bool  // the whole answer is wanted as the only element of an array; Google's API only
	Form         *Form // that the body is the view of; nil: the caller sent JSON

	model         int // index of the member, -1 if absent
	streamOptions int // index of the member, -1 if absent or null
}

// ParseChat reads a chat completion request. The error is a [*apierror.Error] with status 400 that
// names the field.
func ParseChat(b *jsonscan.Body) (Request, error) {
	req, err := parse(b, "messages", "[", "an array")
	req.Choices = choices(b)
	if err == nil {
		err = req.readStreamOptions(b)
	}
	return req, err
}

// parse reads what all requests have in common, and requires a member of one of these kinds. What it
// must be is said as "a string".
func parse(b *jsonscan.Body, name, kinds, what string) (Request, error) {
	req, err := head(b)
	if err == nil {
		err = required(b, name, kinds, what)
	}
	return req, err
}

// required refuses a request without a member of one of these kinds.
func required(b *jsonscan.Body, name, kinds, what string) error {
	switch m, ok := member(b, name); {
	case !ok:
		return missing(name)
	case strings.IndexByte(kinds, m.Kind) < 0:
		return wrong(name, what)
	}
	return nil
}

// Kinds of members that several requests have, and what they are.
const (
	textOrList  = `"[`
	aTextOrList = "a string or an array"
)

// readStreamOptions reads what a chat completion's stream must have.
func (req *Request) readStreamOptions(b *jsonscan.Body) (err error) {
	if req.streamOptions, err = streamOptions(b); err != nil || req.streamOptions < 0 {
		return err
	}
	var storage [8]jsonscan.Member
	options := b.Value(req.streamOptions)
	inner := jsonscan.Members(options, storage[:0])
	if i, ok := jsonscan.Find(options, inner, "include_usage"); ok {
		switch inner[i].Kind {
		case 't':
			req.IncludeUsage = true
		case 'f', 'n':
		default:
			return wrong("stream_options.include_usage", "a boolean")
		}
	}
	return nil
}

// ParseResponses reads a Responses request as [ParseChat] reads a chat one. It must have `input`, a
// string or an array.
func ParseResponses(b *jsonscan.Body) (Request, error) {
	req, err := parse(b, "input", textOrList, aTextOrList)
	if err == nil {
		req.streamOptions, err = streamOptions(b)
	}
	return req, err
}

// ParseInputTokens is [ParseResponses] for a count of the tokens of a request, which may have any of its
// parts and cannot be streamed.
func ParseInputTokens(b *jsonscan.Body) (Request, error) {
	req, err := listHead(b, "input_tokens", true)
	if _, ok := member(b, "input"); ok && err == nil {
		err = required(b, "input", textOrList, aTextOrList)
	}
	req.streamOptions = -1
	return req, err
}

// head reads what both kinds of request have in common.
func head(b *jsonscan.Body) (req Request, err error) {
	if err = checkSpelling(b); err != nil {
		return req, err
	}
	if req.Model, req.model, err = model(b); err != nil {
		return req, err
	}
	req.Stream, err = flag(b, "stream")
	return req, err
}

// member returns the member named key. It is false if that is absent or null.
func member(b *jsonscan.Body, key string) (jsonscan.Member, bool) {
	i, ok := b.Find(key)
	if !ok || b.Members()[i].Kind == 'n' {
		return jsonscan.Member{}, false
	}
	return b.Members()[i], true
}

// value returns the value of a member, nil if it is absent or null.
func value(b *jsonscan.Body, key string) []byte {
	m, ok := member(b, key)
	if !ok {
		return nil
	}
	return m.Value(b.Data())
}

// model reads the name of the model. As at OpenRouter, the first of `models` stands for one that is
// absent.
func model(b *jsonscan.Body) (string, int, error) {
	i, ok := b.Find("model")
	if !ok {
		i = -1
	}
	if name := value(b, "model"); name != nil {
		text, ok := jsonscan.String(name)
		if !ok {
			return "", 0, wrong("model", "a string")
		}
		if text != "" {
			return text, i, nil
		}
	} else if list := value(b, "models"); len(list) > 0 && list[0] == '[' {
		for first := range jsonscan.AllElements(list) {
			if name, _ := jsonscan.String(first.Value(list)); name != "" {
				return name, i, nil
			}
		}
	}
	return "", 0, missing("model")
}

// setModel names the model as the provider knows it.
func (r Request) setModel(b *jsonscan.Body, upstreamModel string) {
	name := jsonscan.AppendString(nil, upstreamModel)
	if r.model < 0 {
		b.Add("model", name)
		return
	}
	b.Set(r.model, name)
}

// flag reads an optional boolean; null is false.
func flag(b *jsonscan.Body, key string) (bool, error) {
	m, ok := member(b, key)
	if !ok || m.Kind == 'f' {
		return false, nil
	}
	if m.Kind != 't' {
		return false, wrong(key, "a boolean")
	}
	return true, nil
}

func streamOptions(b *jsonscan.Body) (int, error) {
	i, ok := b.Find("stream_options")
	switch {
	case !ok, b.Members()[i].Kind == 'n':
		return -1, nil
	case b.Members()[i].Kind != '{':
		return -1, wrong("stream_options", "an object")
	}
	return i, nil
}

// actedOn are the fields by which a part of the gateway judges a request.
var actedOn = map[string]bool{
	"model": true, "stream": true, "stream_options": true, "messages": true, "input": true,
	"tools": true, "background": true, "web_search_options": true, "store": true, "n": true,
	"previous_response_id": true, "conversation": true, "prompt": true,
	"max_tokens": true, "max_completion_tokens": true, "max_output_tokens": true,
	"fallbacks": true, "fallback_credit_token": true,
	"models": true, "provider": true, "plugins": true, "route": true,
	"service_tier": true, "modalities": true, "audio": true, "prediction": true,
}

// checkSpelling refuses fields that equal one of ours but for upper case. Providers written in Go
// read "Stream" as stream; what was judged has to be what the provider reads.
func checkSpelling(b *jsonscan.Body) error {
	for _, m := range b.Members() {
		key := m.Key(b.Data())
		if !hasUpper(key) {
			continue
		}
		if right := strings.ToLower(string(key)); actedOn[right] {
			return apierror.New(apierror.InvalidValue, "field %q must be written %q", key, right).WithParam(string(key))
		}
	}
	return nil
}

func hasUpper(key []byte) bool {
	for _, c := range key {
		if 'A' <= c && c <= 'Z' {
			return true
		}
	}
	return false
}

func missing(param string) *apierror.Error {
	return apierror.New(apierror.MissingParameter, "missing required parameter: %q", param).WithParam(param)
}

func wrong(param, kind string) *apierror.Error {
	return apierror.New(apierror.InvalidValue, "%q must be %s", param, kind).WithParam(param)
}
