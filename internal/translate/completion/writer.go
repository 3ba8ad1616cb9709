// Package completion writes a chat completion, whole or in chunks, for a translation from another
// API. A [Message] gathers a whole one. [Chunks] are the deltas of a stream, which the caller's
// family of endpoints sends, and [Stream] has their beginning and end.
package completion

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Ending is the end of an answer that the provider completed or cut off.
type Ending struct {
	Finish   string
	Stop     string // the stop sequence that ended the answer, "" for none
	Tier     []byte // service_tier, nil for none
	Usage    openai.Usage
	HasUsage bool // the provider reported usage
}

// Put sets in a delta what the last chunk of a stream has.
func (e *Ending) Put(d *openai.Delta) {
	d.Finish, d.StopSequence, d.ServiceTier, d.Usage = e.Finish, e.Stop, e.Tier, e.usage()
}

// usage returns the usage of a chat completion, nil if the provider reported none.
func (e *Ending) usage() []byte {
	if !e.HasUsage {
		return nil
	}
	return translate.AppendUsage(nil, e.Usage)
}

// appendCitation appends the citation of a URL as chat has it.
func appendCitation(dst []byte, c translate.Citation) []byte {
	dst = append(dst, `{"type":"url_citation","url_citation":{`...)
	dst = translate.AppendMember(dst, "url", c.URL)
	dst = translate.AppendMember(dst, "title", c.Title)
	dst = translate.AppendMember(dst, "start_index", c.Start)
	dst = translate.AppendMember(dst, "end_index", c.End)
	return append(dst, "}}"...)
}

// appendLogprobs appends the value of a choice's logprobs.
func appendLogprobs(dst, tokens []byte) []byte {
	if len(tokens) == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, `{"content":[`...)
	dst = append(dst, tokens...)
	return append(dst, `],"refusal":null}`...)
}

// appendImage appends an image as OpenRouter has it in a message or delta.
func appendImage(dst, url []byte) []byte {
	dst = append(dst, `{"type":"image_url","image_url":{"url":"`...)
	return append(append(dst, url...), `"}}`...)
}
