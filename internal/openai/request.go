package openai

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// ChatRequest is what the gateway acts on in a chat completion request.
type ChatRequest struct {
	Model        string
	ModelMember  int  // index of `model` among the members
	Stream       bool // `stream` is true; null and absent are false
	IncludeUsage bool // `stream_options.include_usage` is true

	streamOptions int // index of the member, -1 if absent
}

// ResponsesRequest is what the gateway acts on in a Responses request.
type ResponsesRequest struct {
	Model       string
	ModelMember int
	Stream      bool

	streamOptions int
}

// ParseChat reads a chat completion request, which jsonscan.Strict accepted
// with these members. Errors are [*apierror.Error] with status 400 and the field
// named.
func ParseChat(body []byte, members []jsonscan.Member) (ChatRequest, error) {
	var req ChatRequest
	var err error
	if req.Model, req.ModelMember, req.Stream, err = head(body, members); err != nil {
		return req, err
	}
	i, ok := jsonscan.Find(body, members, "messages")
	if !ok || members[i].Kind == 'n' {
		return req, missing("messages")
	}
	if members[i].Kind != '[' {
		return req, wrong("messages", "an array")
	}
	req.streamOptions, err = streamOptions(body, members)
	if err != nil || req.streamOptions < 0 {
		return req, err
	}
	var room [8]jsonscan.Member
	options := members[req.streamOptions].Value(body)
	inner := jsonscan.Members(options, room[:0])
	if i, ok := jsonscan.Find(options, inner, "include_usage"); ok {
		switch inner[i].Kind {
		case 't':
			req.IncludeUsage = true
		case 'f', 'n':
		default:
			return req, wrong("stream_options.include_usage", "a boolean")
		}
	}
	return req, nil
}

// ParseResponses reads a Responses request as [ParseChat] reads a chat one.
// `input` must be there, as a string or an array.
func ParseResponses(body []byte, members []jsonscan.Member) (ResponsesRequest, error) {
	var req ResponsesRequest
	var err error
	if req.Model, req.ModelMember, req.Stream, err = head(body, members); err != nil {
		return req, err
	}
	i, ok := jsonscan.Find(body, members, "input")
	if !ok || members[i].Kind == 'n' {
		return req, missing("input")
	}
	if kind := members[i].Kind; kind != '[' && kind != '"' {
		return req, wrong("input", "a string or an array")
	}
	req.streamOptions, err = streamOptions(body, members)
	return req, err
}

// head reads what a request of either kind begins with.
func head(body []byte, members []jsonscan.Member) (name string, at int, stream bool, err error) {
	if err = checkSpelling(body, members); err != nil {
		return "", 0, false, err
	}
	if name, at, err = model(body, members); err != nil {
		return "", 0, false, err
	}
	stream, err = flag(body, members, "stream")
	return name, at, stream, err
}

func model(body []byte, members []jsonscan.Member) (string, int, error) {
	i, ok := jsonscan.Find(body, members, "model")
	if !ok || members[i].Kind == 'n' {
		return "", 0, missing("model")
	}
	name, ok := jsonscan.String(members[i].Value(body))
	if !ok {
		return "", 0, wrong("model", "a string")
	}
	if name == "" {
		return "", 0, missing("model")
	}
	return name, i, nil
}

// flag reads an optional boolean; null is false.
func flag(body []byte, members []jsonscan.Member, key string) (bool, error) {
	i, ok := jsonscan.Find(body, members, key)
	if !ok {
		return false, nil
	}
	switch members[i].Kind {
	case 't':
		return true, nil
	case 'f', 'n':
		return false, nil
	}
	return false, wrong(key, "a boolean")
}

func streamOptions(body []byte, members []jsonscan.Member) (int, error) {
	i, ok := jsonscan.Find(body, members, "stream_options")
	switch {
	case !ok:
		return -1, nil
	case members[i].Kind == 'n':
		return -1, nil
	case members[i].Kind != '{':
		return -1, wrong("stream_options", "an object")
	}
	return i, nil
}

// actedOn are the fields that some part of the gateway judges a request by.
var actedOn = map[string]bool{
	"model": true, "stream": true, "stream_options": true, "messages": true, "input": true,
	"tools": true, "background": true, "web_search_options": true, "store": true, "n": true,
	"previous_response_id": true, "conversation": true, "prompt": true,
	"max_tokens": true, "max_completion_tokens": true, "max_output_tokens": true,
	"models": true, "provider": true, "plugins": true, "route": true,
	"service_tier": true, "modalities": true, "audio": true, "prediction": true,
}

// checkSpelling refuses fields that are one of ours but for upper case.
// Providers written in Go read "Stream" as stream; what was judged has to be
// what is read.
func checkSpelling(body []byte, members []jsonscan.Member) error {
	for _, m := range members {
		key := m.Key(body)
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
