package document

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Walker goes once through a valid JSON object, from start to end, and visits the strings that must
// be read. If the value of a member "arguments" is not a string, its JSON text is visited as one
// text, because translations send it as a string. So is the "input" of a tool call of the Messages
// API. In the data of tools (toolData) each key and each number is visited besides the strings. For each
// level the walker keeps a frame. In a request no object has a key twice: [jsonscan.StrictAll] refuses it.
type Walker struct {
	Data   []byte
	Answer bool // an answer: echoed members are skipped, and keys may repeat
	Event  bool // an event of a stream: only its member "response" may echo the request

	// Visit is called for each text: a string with its quotes, or another value below "arguments".
	Visit func(at Span)

	// Logprobs, if set, is called once for each value of a member logprobs that contains strings.
	// Visit is not called for them then.
	Logprobs func(at Span)

	// Stop may be set by Visit to end the walk.
	Stop bool

	// Frames are the open objects and arrays, outermost first. A slice that is set before the walk
	// is used again.
	Frames []Frame

	// onDerived, if set, is called at the end of each object for its values that were derived from
	// its texts: a signature, and in an answer the list of its annotations.
	onDerived func(object, derived Span)

	atKey        bool // Visit is called for a key
	lastLogprobs int  // start of the last value passed to Logprobs
}

// Span is a range of bytes of a body. End is exclusive.
type Span struct{ Start, End int }

// Frame is an open object or array.
type Frame struct {
	Object bool
	Name   string // the key of this value; for an element, the key of its array
	Key    string // the current key of an object, "" if it has escapes or is not ASCII
	Start  int

	callerKeys    bool  // the keys in it are the caller's own words
	data          bool  // its keys and numbers are visited too
	visited       bool  // it was visited as one text
	exempt        *node // the exemptions in it, nil for none
	responseKnown bool  // isResponse is set
	isResponse    bool  // it is a Response object
	annotations   Span  // the list of its member annotations
	signature     Span  // the value of its member signature
}

// Walk goes through the object.
func (w *Walker) Walk() {
	w.Frames, w.lastLogprobs = w.Frames[:0], -1
	tokens := jsonscan.Walk(w.Data)
	for t, ok := tokens.Next(); ok && !w.Stop; t, ok = tokens.Next() {
		switch t.Kind {
		case jsonscan.Key:
			top := &w.Frames[len(w.Frames)-1]
			top.Key = plainText(w.Data[t.Start+1 : t.End-1])
			if top.data {
				w.atKey = true
				w.visit(Span{t.Start, t.End})
				w.atKey = false
			}
		case '"':
			w.text(Span{t.Start, t.End})
		case '{', '[':
			if w.echoed() {
				tokens.Skip()
				break
			}
			if w.inArguments() {
				w.visit(Span{t.Start, jsonscan.ValueEnd(w.Data, t.Start)})
			}
			w.open(t.Kind == '{', t.Start)
		case '}', ']':
			w.close(t.End)
		case 't', 'f', '0':
			if w.inArguments() || t.Kind == '0' && w.inData() {
				w.visit(Span{t.Start, t.End})
			}
		}
	}
}

// text handles a string that is no key.
func (w *Walker) text(at Span) {
	if len(w.Frames) > 0 {
		top := &w.Frames[len(w.Frames)-1]
		if top.visited {
			return
		}
		exempt := top.exempt
		if top.Object {
			if top.Key == "object" && !top.responseKnown {
				// Of another kind: echoed need not look for the member.
				top.responseKnown = !IsText(w.Data[at.Start:at.End], "response")
			}
			exempt = exempt.below(top.Key)
			if top.Key == "signature" && exempt != nil {
				top.signature = at
			}
		}
		if w.echoed() || exempt.covers(w.Data[at.Start+1:at.End-1]) && w.isOf(top, exempt.of) {
			return
		}
	}
	w.visit(at)
}

// isOf reports whether an object has a type, which may be "" for any.
func (w *Walker) isOf(object *Frame, typ string) bool {
	if typ == "" {
		return true
	}
	found := false
	data := w.Data[object.Start:]
	for m := range jsonscan.AllMembers(data) {
		if string(m.DecodedKey(data)) != "type" {
			continue
		}
		if !IsText(m.Value(data), typ) {
			return false
		}
		if found = true; !w.Answer {
			break // only in an answer may the key repeat
		}
	}
	return found
}

// inArguments reports whether the walk is at the arguments of a tool call that were not visited
// yet.
func (w *Walker) inArguments() bool {
	n := len(w.Frames)
	if n == 0 {
		return false
	}
	top := &w.Frames[n-1]
	if !top.Object || top.visited {
		return false
	}
	switch top.Key {
	case "arguments":
		return !top.callerKeys
	case "input", "args":
		input := top.exempt.below(top.Key)
		return input != nil && input.shape == toolInput
	}
	return false
}

// inData reports whether the current value belongs to the data of a tool.
func (w *Walker) inData() bool {
	n := len(w.Frames)
	if n == 0 {
		return false
	}
	top := &w.Frames[n-1]
	return top.data || top.Object && top.exempt.below(top.Key).isData()
}

// Member returns the name of the current member of the body.
func (w *Walker) Member() string {
	if len(w.Frames) > 0 && w.Frames[0].Key != "" {
		return w.Frames[0].Key
	}
	return "the body"
}

// echoed reports whether the current value repeats the request in a Response object.
func (w *Walker) echoed() bool {
	n := len(w.Frames)
	if !w.Answer || n == 0 || n > 2 {
		return false
	}
	top := &w.Frames[n-1]
	if n == 1 && w.Event || n == 2 && top.Name != "response" || !echoedMembers[top.Key] {
		return false
	}
	if !top.responseKnown {
		object := w.Data[top.Start:]
		for m := range jsonscan.AllMembers(object) {
			if string(m.Key(object)) == "object" { // of several, the last one counts
				top.isResponse = IsText(m.Value(object), "response")
			}
		}
		top.responseKnown = true
	}
	return top.isResponse
}

func (w *Walker) open(object bool, start int) {
	child := Frame{Object: object, Start: start}
	if len(w.Frames) > 0 {
		top := &w.Frames[len(w.Frames)-1]
		child.callerKeys, child.Name, child.visited, child.exempt = top.callerKeys, top.Name, top.visited, top.exempt
		if top.Object {
			child.Name = top.Key
			child.exempt = top.exempt.below(top.Key)
			child.visited = top.visited || w.inArguments()
			child.data = child.exempt.isData()
			child.callerKeys = top.callerKeys || child.visited || child.data || callerKeys[top.Key]
		}
		child.data = child.data || top.data
	} else if child.exempt = exemptInRequests; w.Answer {
		child.exempt = exemptInAnswers
	}
	w.Frames = append(w.Frames, child)
}

// close closes the innermost frame, which ends before end.
func (w *Walker) close(end int) {
	n := len(w.Frames) - 1
	top := &w.Frames[n]
	if w.onDerived != nil {
		for _, derived := range [...]Span{top.annotations, top.signature} {
			if derived.End > 0 {
				w.onDerived(Span{top.Start, end}, derived)
			}
		}
	}
	if n > 0 && w.Answer && !top.Object && w.Frames[n-1].Object && top.Name == "annotations" {
		w.Frames[n-1].annotations = Span{top.Start, end}
	}
	w.Frames = w.Frames[:n]
}

// visit calls Visit, or Logprobs for the value that contains the string.
func (w *Walker) visit(at Span) {
	if w.Logprobs == nil {
		w.Visit(at)
		return
	}
	start, ok := w.inLogprobs()
	if !ok {
		w.Visit(at)
	} else if start != w.lastLogprobs {
		w.lastLogprobs = start
		w.Logprobs(Span{start, jsonscan.ValueEnd(w.Data, start)})
	}
}

// inLogprobs reports whether the walk is below a member logprobs, and where its value begins.
func (w *Walker) inLogprobs() (start int, ok bool) {
	for i := range w.Frames {
		if w.Frames[i].Name == "logprobs" {
			return w.Frames[i].Start, true
		}
	}
	return 0, false
}
