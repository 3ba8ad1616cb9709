package document

import (
	"encoding/json"
	"strings"
)

// Context says how a string of a body is read.
type Context struct {
	InnerJSON bool   // as JSON
	Before    string // as going on from this

	part part // as going on from the part before it, the zero part for none
}

// part says which texts are the parts of one message of an answer, which a
// client joins: those of one key in one array of content.
type part struct {
	array int // where it begins
	key   string
}

// Context is that of the string value the walker is at.
func (w *Walker) Context() (how Context) {
	n := len(w.Frames)
	if n == 0 || !w.Frames[n-1].Object {
		return how
	}
	top := &w.Frames[n-1]
	how.InnerJSON = top.Key == "arguments"
	if w.Answer && n > 1 && top.Name == "content" && !w.Frames[n-2].Object && (top.Key == "text" || top.Key == "refusal") {
		how.part = part{w.Frames[n-2].Start, top.Key}
	}
	return how
}

// isJSON tells whether a whole text is an object or array of JSON, as structured
// outputs and the results of tools are.
func isJSON(text string) bool {
	text = strings.Trim(text, " \t\r\n")
	if len(text) < len("{}") || text[0] != '{' && text[0] != '[' || text[len(text)-1] != text[0]+2 {
		return false // '[' and ']', '{' and '}' are two apart
	}
	return json.Valid([]byte(text))
}
