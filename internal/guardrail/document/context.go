package document

import (
	"encoding/json"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Context says how a string of a body is read.
type Context struct {
	InnerJSON bool   // it is JSON
	Before    string // the end of the text that it continues

	part part // the message whose parts it continues, zero for none
}

// part identifies the parts of one message of an answer that clients join: those with one key in
// one array of content.
type part struct {
	array int // its start
	key   string
}

// Context returns the context of the string that the walker visits.
func (w *Walker) Context() (how Context) {
	n := len(w.Frames)
	if n == 0 || !w.Frames[n-1].Object || w.atKey {
		return how
	}
	top := &w.Frames[n-1]
	how.InnerJSON = top.Key == "arguments" || w.inArguments()
	if !w.Answer || n == 1 || w.Frames[n-2].Object || top.Key != "text" && top.Key != "refusal" {
		return how
	}
	switch top.Name {
	case "content":
		how.part = part{w.Frames[n-2].Start, top.Key}
	case "parts": // of Google's API
		how.part = part{w.Frames[n-2].Start, top.Key}
		if isThought(w.Data[top.Start:]) {
			how.part.key = "thought"
		}
	}
	return how
}

// isThought reports whether the text of a part of Google's API is a thought.
func isThought(object []byte) (thought bool) {
	for m := range jsonscan.AllMembers(object) {
		if string(m.DecodedKey(object)) == "thought" {
			thought = m.Kind == 't'
		}
	}
	return thought
}

// isJSON reports whether a whole text is a JSON object or array, as structured outputs and results
// of tools are.
func isJSON(text string) bool {
	text = strings.Trim(text, " \t\r\n")
	if len(text) < len("{}") || text[0] != '{' && text[0] != '[' || text[len(text)-1] != text[0]+2 {
		return false // the codes of '[' and ']', and of '{' and '}', differ by two
	}
	return json.Valid([]byte(text))
}
