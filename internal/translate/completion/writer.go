// Package completion writes a chat completion, whole or in chunks, for a translation from another
// API. A [Message] gathers a whole one. [Chunks] are the deltas of a stream, which the caller's family
// of endpoints sends, and [Stream] has their beginning and end.
package completion

import (
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Writer writes the content of an answer as chat, in the order in which it arrives. Texts are JSON
// without quotes; ids and names keep theirs.
type Writer interface {
	// Begin comes before anything else; further calls do nothing. text says that the answer begins with
	// text.
	Begin(text bool)

	// Text takes text and the log probabilities of its tokens, as elements of a list.
	Text(piece, logprobs []byte)
	Refusal(piece []byte)

	// Reasoning takes a piece of reasoning, and elements of reasoning_details. Either may be nil.
	Reasoning(piece, details []byte)
	Citation(annotation []byte)

	// BeginCall begins tool call n, which counts from 0. The id may be nil.
	BeginCall(n int, custom bool, id, name []byte)
	Arguments(n int, custom bool, piece []byte)
}

// Ending is the end of an answer that the provider completed or cut off.
type Ending struct {
	Finish   string
	Stop     string // the stop sequence that ended the answer, "" for none
	Tier     []byte // service_tier, nil for none
	Usage    openai.Usage
	HasUsage bool // the provider reported usage
}

// usage returns the usage of a chat completion, nil if the provider reported none.
func (e *Ending) usage() []byte {
	if !e.HasUsage {
		return nil
	}
	return translate.AppendUsage(nil, e.Usage)
}

// URLCitation returns the citation of a URL as chat has it, with quoted texts. It counts characters
// from the beginning of the message.
func URLCitation(url, title []byte, start, end int64) []byte {
	a := []byte(`{"type":"url_citation","url_citation":{`)
	a = translate.AppendMember(a, "url", url)
	a = translate.AppendMember(a, "title", title)
	a = translate.AppendIntMember(a, "start_index", start)
	a = translate.AppendIntMember(a, "end_index", end)
	return append(a, "}}"...)
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
