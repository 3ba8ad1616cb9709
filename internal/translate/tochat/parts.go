package tochat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// list walks an array in the delta.
func (r *reader) list(array []byte) []jsonscan.Span {
	r.spans[1] = jsonscan.Elements(array, r.spans[1][:0])
	return r.spans[1]
}

// readContent takes text, or the parts that some providers send instead:
// text, and what the model thought (Mistral).
func (r *reader) readContent(content []byte) *apierror.Error {
	piece, ok := translate.Inner(content)
	if ok || len(r.tokens) > 0 {
		r.text(piece, r.tokens)
	}
	if ok || !says(content) || len(content) == 0 {
		return nil
	}
	if content[0] != '[' {
		return translate.ProviderFailure(r.call, "answered with content that is no text")
	}
	for _, span := range r.list(content) {
		value := span.Value(content)
		members := r.walk(atElement, value)
		text, thinking := []byte(nil), []byte(nil)
		for _, m := range members {
			switch string(m.DecodedKey(value)) {
			case "text":
				text = m.Value(value)
			case "thinking":
				thinking = m.Value(value)
			}
		}
		switch {
		case thinking != nil:
			r.readThinking(thinking)
		case text != nil:
			if piece, ok := translate.Inner(text); ok {
				r.text(piece, nil)
			}
		default:
			return translate.ProviderFailure(r.call, "answered with a content part that is no text")
		}
	}
	return nil
}

// readThinking takes a string or a list of text parts.
func (r *reader) readThinking(value []byte) {
	if piece, ok := translate.Inner(value); ok {
		r.think(piece)
		return
	}
	for _, span := range jsonscan.Elements(value, nil) {
		part := span.Value(value)
		r.thinkMember(part, "text")
	}
}

// thinkMember takes the reasoning in a member of an object.
func (r *reader) thinkMember(object []byte, key string) {
	for _, m := range r.walk(atInner, object) {
		if string(m.DecodedKey(object)) == key {
			if piece, ok := translate.Inner(m.Value(object)); ok {
				r.think(piece)
			}
		}
	}
}

// readDetails takes OpenRouter's reasoning_details: reasoning.text has `text`
// and reasoning.summary has `summary`. What is encrypted stays out: only the
// provider could read it, and it is not sent back.
func (r *reader) readDetails(details []byte) {
	for _, span := range r.list(details) {
		detail := span.Value(details)
		if span.Kind == '{' {
			r.thinkMember(detail, "text")
			r.thinkMember(detail, "summary")
		}
	}
}

// readAnnotations takes the citations of URLs. Chat has their fields one level
// deeper than Responses; other annotations have no counterpart and say nothing
// about the text.
func (r *reader) readAnnotations(annotations []byte) {
	for _, span := range r.list(annotations) {
		outer := span.Value(annotations)
		citation, cites := outer, false
		for _, m := range r.walk(atElement, outer) {
			switch value := m.Value(outer); string(m.DecodedKey(outer)) {
			case "type":
				cites = string(value) == `"url_citation"`
			case "url_citation":
				citation = value
			}
		}
		if cites {
			r.annotate(r.urlCitation(citation))
		}
	}
}

// urlCitation returns an annotation with every key that SDKs require.
func (r *reader) urlCitation(citation []byte) []byte {
	url, title, start, end := []byte(`""`), []byte(`""`), []byte("0"), []byte("0")
	for _, m := range r.walk(atInner, citation) {
		value := m.Value(citation)
		switch key := m.DecodedKey(citation); {
		case m.Kind == '"' && string(key) == "url":
			url = value
		case m.Kind == '"' && string(key) == "title":
			title = value
		case m.Kind == '0' && string(key) == "start_index":
			start = value
		case m.Kind == '0' && string(key) == "end_index":
			end = value
		}
	}
	a := append([]byte(nil), `{"type":"url_citation","url":`...)
	a = append(append(a, url...), `,"title":`...)
	a = append(append(a, title...), `,"start_index":`...)
	a = append(append(a, start...), `,"end_index":`...)
	return append(append(a, end...), '}')
}

// readCalls takes tool calls, or fragments of them. In a stream package openai
// has numbered the calls from 0, and left id and name in their first fragment
// alone; in a whole answer each element is a call.
func (r *reader) readCalls(calls []byte) *apierror.Error {
	for _, span := range r.list(calls) {
		value := span.Value(calls)
		var id, function []byte
		index := int64(len(r.calls))
		for _, m := range r.walk(atElement, value) {
			switch string(m.DecodedKey(value)) {
			case "index":
				if r.streamed {
					index, _ = jsonscan.Int(m.Value(value))
				}
			case "id":
				id = m.Value(value)
			case "function":
				function = m.Value(value)
			}
		}
		var name, arguments []byte
		for _, m := range r.walk(atInner, function) {
			switch string(m.DecodedKey(function)) {
			case "name":
				name = m.Value(function)
			case "arguments":
				arguments = m.Value(function)
			}
		}
		if index == int64(len(r.calls)) {
			if _, ok := translate.Inner(name); !ok {
				return translate.ProviderFailure(r.call, "answered with a tool call that names no function")
			}
			r.beginCall(id, name)
			if bad := r.exceeded(); bad != nil {
				return bad
			}
		}
		if index < 0 || index >= int64(len(r.calls)) {
			return translate.ProviderFailure(r.call, "answered with a fragment of no tool call")
		}
		if piece, ok := translate.Inner(arguments); ok {
			r.argue(&r.items[r.calls[index]], piece)
		}
	}
	return nil
}

// readLogprobs collects the log probabilities of a chunk's text in r.tokens. Those of a refusal have
// no counterpart in a response.
func (r *reader) readLogprobs(value []byte) {
	for _, m := range r.walk(atElement, value) {
		if string(m.DecodedKey(value)) != "content" {
			continue
		}
		list := m.Value(value)
		for _, span := range r.list(list) {
			if span.Kind == '{' {
				r.tokens = translate.AppendToken(r.tokens, span.Value(list), "[]", true)
			}
		}
		return
	}
}
