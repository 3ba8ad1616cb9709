// Package gemini holds the wire shapes of Google's generateContent: answers whole and streamed, usage,
// lists of models and errors, as Google's SDKs read them. Requests are read by package openai/params,
// like those of the other APIs.
//
// Answers of a provider that has this API pass as they came but for the model's name:
//
//	out, sum, err := gemini.Result(nil, answer, call) // a whole answer
//	stream := gemini.NewStream(call, candidates)      // a streamed one
//
// Facts about the wire are from the SDKs (Python 3.4.0, JavaScript 3.1.0, Go 1.77.0) and Google's
// documentation. A stream is lines of "data: " with JSON and nothing else: the SDKs fail on comments, on
// names of events and on [DONE], and take a stream that is cut for a whole one.
package gemini

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// KeyHeader is where Google's SDKs send the key.
const KeyHeader = "X-Goog-Api-Key"

// ClientHeader is where they name themselves.
const ClientHeader = "X-Goog-Api-Client"

const (
	// maxID bounds an id of the provider that is kept, in bytes; Google's have under 30.
	maxID = 256
	// maxReason bounds a finishReason that is kept, in bytes; known ones have 25.
	maxReason = 64
)

// response is what is known of the GenerateContentResponses of one call: one, or the events of a stream.
// Vars are where the last one has the values in which others may differ from it.
//
//	{"candidates": [{"content": {"parts": [PART, …]}, "finishReason": "STOP", "index": 0}],
//	 "usageMetadata": {…}, "promptFeedback": {"blockReason": "…"}, "modelVersion": "…", "responseId": "…"}
type response struct {
	call  openai.Call
	model []byte // quoted, as asked
	sum   openai.Summary
	vars  [openai.Variables]openai.Variable
	kept  bool // the provider's moderation kept the whole answer back
}

func newResponse(call openai.Call) response {
	return response{call: call, model: jsonscan.AppendString(nil, call.Model)}
}

// read learns from a response. It is false for an object that is none.
func (r *response) read(data []byte, members []jsonscan.Member) (ok bool) {
	r.sum.Later++
	r.vars = [openai.Variables]openai.Variable{}
	for _, m := range members {
		value := m.Value(data)
		switch string(m.DecodedKey(data)) {
		case "modelVersion":
			r.vars[openai.VarModel] = openai.Variable{Start: m.ValueStart, End: m.ValueEnd}
		case "responseId":
			if id, isText := jsonscan.String(value); isText && len(id) <= maxID {
				r.sum.UpstreamID = id
			}
		case "usageMetadata":
			ok = true
			if u, known := ParseUsage(value); known { // that of a stream counts what was used up to here
				r.sum.Usage, r.sum.HasUsage, r.sum.Later = u, true, 0
				r.vars[openai.VarUsage] = openai.Variable{Start: m.ValueStart, End: m.ValueEnd}
			}
		case "promptFeedback":
			ok = true
			r.blocked(value)
		case "candidates":
			ok = true
			for e := range jsonscan.AllElements(value) {
				r.candidate(ReadCandidate(m.ValueStart+e.Start, e.Value(value)))
			}
		}
	}
	return ok
}

// blocked notes why the provider does not answer. Such a response has no candidates.
func (r *response) blocked(object []byte) {
	for m := range jsonscan.AllMembers(object) {
		if string(m.DecodedKey(object)) == "blockReason" && m.Kind == '"' {
			r.kept = true
			r.finish(m.Value(object), blocked)
		}
	}
}

// candidate notes whether there is content, where its last text is, and why it ended.
func (r *response) candidate(c Candidate) {
	for p := range c.Parts() {
		r.sum.Text = r.sum.Text || p.Call != nil || p.InlineData != nil || p.Other || len(p.Text) > len(`""`)
		if len(p.Text) > 0 && p.Text[0] == '"' {
			r.vars[openai.VarText] = p.TextAt
		}
		if p.Signature != nil {
			r.call.ReportSealed(p.Signature)
		}
	}
	r.finish(c.FinishReason, "")
}

// finish notes why an answer ended. As says what that is in OpenAI's words, "" for what the table has.
func (r *response) finish(value []byte, as string) {
	reason, ok := jsonscan.String(value)
	if !ok || reason == "" || len(reason) > maxReason {
		return
	}
	r.sum.NativeFinish = reason
	r.sum.Finished++
	if r.sum.Finish = as; as == "" {
		r.sum.Finish = FinishReason(reason)
	}
	if r.sum.Finish == "" {
		r.sum.Finish = "stop"
	}
}
