package tochat

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// delta has the members of a delta or a message that matter, nil for those that are absent.
type delta struct {
	content, refusal, annotations, calls []byte

	// Many providers send their reasoning under two names at once.
	reasoning, reasoningContent, reasoningDetails []byte
}

// readDelta takes a delta or a message, which begins at base in the chunk. It gives the content to
// the builder in the order in which a model makes it.
func (r *reader) readDelta(object []byte, base int) *apierror.Error {
	d, bad := r.parseDelta(object, base)
	if bad != nil {
		return bad
	}
	if piece, ok := translate.Unquoted(d.reasoning); ok {
		r.reasoning(piece)
	} else if piece, ok := translate.Unquoted(d.reasoningContent); ok {
		r.reasoning(piece)
	} else if isArray(d.reasoningDetails) {
		r.readReasoningDetails(d.reasoningDetails)
	}
	if bad := r.readContent(d.content); bad != nil {
		return bad
	}
	if isArray(d.annotations) {
		r.readAnnotations(d.annotations)
	}
	if piece, ok := translate.Unquoted(d.refusal); ok {
		r.refusal(piece)
	}
	if isArray(d.calls) {
		return r.readCalls(d.calls)
	}
	return nil
}

// parseDelta reads the members of a delta, and fails one that a response cannot have. It notes
// where the text of the chunk is, and whether the chunk has more.
func (r *reader) parseDelta(object []byte, base int) (d delta, bad *apierror.Error) {
	for _, m := range r.walker.walk(atDelta, object) {
		value := m.Value(object)
		key := m.DecodedKey(object)
		switch string(key) {
		case "content":
			d.content = value
			r.textStart, r.textEnd = 0, 0
			if _, ok := translate.Unquoted(value); ok {
				r.textStart, r.textEnd = base+m.ValueStart, base+m.ValueEnd
			}
			continue
		case "refusal":
			d.refusal = value
		case "annotations":
			d.annotations = value
		case "tool_calls":
			d.calls = value
		case "reasoning":
			d.reasoning = value
		case "reasoning_content":
			d.reasoningContent = value
		case "reasoning_details":
			d.reasoningDetails = value
		case "function_call", "audio", "images":
			if hasContent(value) {
				return d, translate.ProviderFailure(r.call, "answered with \""+string(key)+"\", which a response cannot contain")
			}
			continue
		default:
			continue
		}
		r.hasMore = r.hasMore || hasContent(value)
	}
	return d, nil
}

func isArray(value []byte) bool { return len(value) > 0 && value[0] == '[' }

// hasContent reports whether a member is more than empty.
func hasContent(value []byte) bool {
	switch string(value) {
	case "null", "[]", "{}", `""`:
		return false
	}
	return true
}

// readContent takes text, or the parts that some providers send instead: text, and reasoning
// (Mistral).
func (r *reader) readContent(content []byte) *apierror.Error {
	piece, ok := translate.Unquoted(content)
	if ok || len(r.tokens) > 0 {
		r.text(piece, r.tokens)
	}
	if ok || len(content) == 0 || !hasContent(content) {
		return nil
	}
	if !isArray(content) {
		return translate.ProviderFailure(r.call, "answered with content that is not text")
	}
	for _, span := range r.walker.list(content) {
		if bad := r.readPart(span.Value(content)); bad != nil {
			return bad
		}
	}
	return nil
}

func (r *reader) readPart(object []byte) *apierror.Error {
	var text, thinking []byte
	for _, m := range r.walker.walk(atElement, object) {
		switch string(m.DecodedKey(object)) {
		case "text":
			text = m.Value(object)
		case "thinking":
			thinking = m.Value(object)
		}
	}
	switch {
	case thinking != nil:
		r.readThinking(thinking)
	case text == nil:
		return translate.ProviderFailure(r.call, translate.PartNotText)
	default:
		if piece, ok := translate.Unquoted(text); ok {
			r.text(piece, nil)
		}
	}
	return nil
}

// readThinking takes a string or a list of text parts.
func (r *reader) readThinking(value []byte) {
	if piece, ok := translate.Unquoted(value); ok {
		r.reasoning(piece)
		return
	}
	for span := range jsonscan.AllElements(value) {
		r.reasoningMember(span.Value(value), "text")
	}
}

// reasoningMember takes the reasoning in a member of an object.
func (r *reader) reasoningMember(object []byte, key string) {
	for _, m := range r.walker.walk(atInner, object) {
		if string(m.DecodedKey(object)) == key {
			if piece, ok := translate.Unquoted(m.Value(object)); ok {
				r.reasoning(piece)
			}
		}
	}
}

// readReasoningDetails takes OpenRouter's reasoning_details: reasoning.text has `text` and
// reasoning.summary has `summary`. Encrypted reasoning is left out: only the provider can read it,
// and a chat request does not send it back.
func (r *reader) readReasoningDetails(details []byte) {
	for _, span := range r.walker.list(details) {
		detail := span.Value(details)
		if span.Kind == '{' {
			r.reasoningMember(detail, "text")
			r.reasoningMember(detail, "summary")
		}
	}
}

// readAnnotations takes the citations of URLs, whose members chat nests. Other annotations have no
// counterpart.
func (r *reader) readAnnotations(annotations []byte) {
	for _, span := range r.walker.list(annotations) {
		outer := span.Value(annotations)
		citation, cites := outer, false
		for _, m := range r.walker.walk(atElement, outer) {
			switch value := m.Value(outer); string(m.DecodedKey(outer)) {
			case "type":
				cites = string(value) == `"url_citation"`
			case "url_citation":
				citation = value
			}
		}
		if cites {
			r.annotation(urlCitation(translate.ReadCitation(citation)))
		}
	}
}

// urlCitation returns an annotation with every key that SDKs require.
func urlCitation(c translate.Citation) []byte {
	a := []byte(`{"type":"url_citation"`)
	a = translate.AppendMember(a, "url", c.URL)
	a = translate.AppendMember(a, "title", c.Title)
	a = translate.AppendMember(a, "start_index", c.Start)
	a = translate.AppendMember(a, "end_index", c.End)
	return append(a, '}')
}

// readCalls takes tool calls, or fragments of them. In a stream package openai has numbered the
// calls from 0, and left id and name only in their first fragment; in a whole answer each element
// is a call.
func (r *reader) readCalls(calls []byte) *apierror.Error {
	for _, span := range r.walker.list(calls) {
		value := span.Value(calls)
		var id, function []byte
		index := int64(len(r.calls))
		for _, m := range r.walker.walk(atElement, value) {
			switch string(m.DecodedKey(value)) {
			case "index":
				if r.events.on {
					index, _ = jsonscan.Int(m.Value(value))
				}
			case "id":
				id = m.Value(value)
			case "function":
				function = m.Value(value)
			}
		}
		if bad := r.readFunction(index, id, function); bad != nil {
			return bad
		}
	}
	return nil
}

// readFunction takes the function of a tool call, which begins if its index is new.
func (r *reader) readFunction(index int64, id, function []byte) *apierror.Error {
	var name, arguments []byte
	for _, m := range r.walker.walk(atInner, function) {
		switch string(m.DecodedKey(function)) {
		case "name":
			name = m.Value(function)
		case "arguments":
			arguments = m.Value(function)
		}
	}
	if index == int64(len(r.calls)) {
		if _, ok := translate.Unquoted(name); !ok {
			return translate.ProviderFailure(r.call, translate.NamelessCall)
		}
		r.beginCall(id, name)
		if bad := r.checkSize(); bad != nil {
			return bad
		}
	}
	if index < 0 || index >= int64(len(r.calls)) {
		return translate.ProviderFailure(r.call, translate.FragmentOfNoCall)
	}
	if piece, ok := translate.Unquoted(arguments); ok {
		r.arguments(index, piece)
	}
	return nil
}
