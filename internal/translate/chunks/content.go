package chunks

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func isArray(value []byte) bool { return len(value) > 0 && value[0] == '[' }

// readContent takes text, or the parts that some providers send instead: text, and reasoning
// (Mistral).
func (r *Reader) readContent(content []byte) *apierror.Error {
	piece, ok := translate.Unquoted(content)
	if ok || len(r.tokens) > 0 {
		r.to.Text(piece, r.tokens)
	}
	if ok || openai.IsEmpty(content) {
		return nil
	}
	if !isArray(content) {
		return translate.ProviderFailure(r.call, "answered with content that is not text")
	}
	for span := range jsonscan.AllElements(content) {
		if bad := r.readPart(span.Value(content)); bad != nil {
			return bad
		}
	}
	return nil
}

func (r *Reader) readPart(object []byte) *apierror.Error {
	var text, thinking []byte
	other := false // it has what is no text
	for m := range jsonscan.AllMembers(object) {
		switch string(m.DecodedKey(object)) {
		case "text":
			text = m.Value(object)
		case "thinking":
			thinking = m.Value(object)
		case "type":
			other = other || string(m.Value(object)) != `"text"`
		default:
			other = other || !openai.IsEmpty(m.Value(object))
		}
	}
	switch {
	case thinking != nil:
		r.readThinking(thinking)
	case text == nil && other:
		return translate.ProviderFailure(r.call, translate.PartNotText)
	default:
		if piece, ok := translate.Unquoted(text); ok {
			r.to.Text(piece, nil)
		}
	}
	return nil
}

// readThinking takes a string or a list of text parts.
func (r *Reader) readThinking(value []byte) {
	if piece, ok := translate.Unquoted(value); ok {
		r.to.Reasoning(piece)
		return
	}
	for span := range jsonscan.AllElements(value) {
		r.reasoningMember(span.Value(value), "text")
	}
}

// reasoningMember takes the reasoning in a member of an object.
func (r *Reader) reasoningMember(object []byte, key string) {
	for m := range jsonscan.AllMembers(object) {
		if string(m.DecodedKey(object)) == key {
			if piece, ok := translate.Unquoted(m.Value(object)); ok {
				r.to.Reasoning(piece)
			}
		}
	}
}

// readReasoningDetails takes OpenRouter's reasoning_details: reasoning.text has `text` and
// reasoning.summary has `summary`. Encrypted reasoning is left out: only the provider can read it,
// and a chat request does not send it back.
func (r *Reader) readReasoningDetails(details []byte) {
	for span := range jsonscan.AllElements(details) {
		detail := span.Value(details)
		if span.Kind == '{' {
			r.reasoningMember(detail, "text")
			r.reasoningMember(detail, "summary")
		}
	}
}

// readAnnotations takes the citations of URLs, whose members chat nests. Other annotations have no
// counterpart.
func (r *Reader) readAnnotations(annotations []byte) {
	for span := range jsonscan.AllElements(annotations) {
		outer := span.Value(annotations)
		citation, cites := outer, false
		for m := range jsonscan.AllMembers(outer) {
			switch value := m.Value(outer); string(m.DecodedKey(outer)) {
			case "type":
				cites = string(value) == `"url_citation"`
			case "url_citation":
				citation = value
			}
		}
		if cites {
			r.to.Citation(translate.ReadCitation(citation))
		}
	}
}

// readCalls takes tool calls, or fragments of them. In a stream package openai has numbered the
// calls from 0, and left id and name only in their first fragment; in a whole answer each element
// is a call.
func (r *Reader) readCalls(calls []openai.ChunkCall) *apierror.Error {
	for i := range calls {
		c := &calls[i]
		index := r.calls
		if r.opt.Stream {
			index = c.Index
		}
		if index == r.calls {
			if _, ok := translate.Unquoted(c.Name); !ok {
				return translate.ProviderFailure(r.call, translate.NamelessCall)
			}
			if bad := r.to.BeginCall(c.ID, c.Name); bad != nil {
				return bad
			}
			r.calls++
		}
		if index >= r.calls {
			return translate.ProviderFailure(r.call, translate.FragmentOfNoCall)
		}
		if piece, ok := translate.Unquoted(c.Arguments.JSON); ok {
			if bad := r.to.Arguments(index, piece); bad != nil {
				return bad
			}
		}
	}
	return nil
}
