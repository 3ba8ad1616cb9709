package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// IsPiece reports whether an event of a provider's stream has a piece of the answer: it is JSON,
// and in a Responses stream its name is that of a delta. Chat chunks have no name; [DONE] is not
// JSON. Every event of a stream of pictures is one.
func IsPiece(name, data []byte) bool {
	return len(data) > 0 && data[0] == '{' && (len(name) == 0 || bytes.Contains(name, deltaInName) || bytes.HasPrefix(name, imagePrefix))
}

var (
	deltaInName = []byte("delta")
	imagePrefix = []byte("image_")
)

// TextBytes returns how many bytes of an event, as it came, are text that a model wrote.
func TextBytes(e *Event) int {
	if v := &e.vars[VarText]; e.repeats && v.End > 0 {
		return int(e.source.besides) + v.End - v.Start - len(`""`)
	}
	return textBytes(e.Data, -1)
}

// textBytes counts the text in an event of any API. A text that stands twice in a row, under two names, counts
// once. The text that begins at except is not counted.
func textBytes(data []byte, except int) (n int) {
	var last []byte // text
	isText, isObject := false, false
	tokens := jsonscan.Walk(data)
	for t, ok := tokens.Next(); ok; t, ok = tokens.Next() {
		value := data[t.Start:t.End]
		switch {
		case t.Kind == jsonscan.Key:
			isText, isObject = textMember(value)
			continue
		case t.Kind == '"' && isText && t.Start == except:
			last = value
		case t.Kind == '"' && isText && !bytes.Equal(value, last):
			last = value
			n += len(value) - len(`""`)
		case t.Kind == '{' && isObject:
			n += jsonscan.ValueEnd(data, t.Start) - t.Start
			tokens.Skip()
		}
		isText, isObject = false, false
	}
	return n
}

// textMember reports whether a member, by its quoted key, has text that a model wrote if its value is a
// string, or if it is an object.
func textMember(key []byte) (isText, isObject bool) {
	switch string(key) {
	case `"content"`, `"text"`, `"delta"`, `"reasoning"`, `"reasoning_content"`, `"thinking"`, `"refusal"`, `"summary"`,
		`"arguments"`, `"partial_json"`, `"transcript"`, `"data"`, `"b64_json"`, `"audio"`:
		return true, false
	case `"input"`, `"args"`:
		return true, true
	}
	return false, false
}
