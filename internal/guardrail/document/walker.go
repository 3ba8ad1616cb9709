package document

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Walker goes once through a valid JSON object, from start to end, and visits the strings that must
// be read. If the value of a member "arguments" is not a string, its JSON text is visited as one
// text, because translations send it as a string. For each level the walker keeps a frame and, in a
// request, the keys of the open objects.
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

	// onAnnotations, if set, is called at the end of each object that has annotations.
	onAnnotations func(object, list Span)

	keys         []Span
	keySetSize   int // what the key sets of all frames cost, in bytes
	lastLogprobs int // start of the last value passed to Logprobs
}

// Span is a range of bytes of a body. End is exclusive.
type Span struct{ Start, End int }

// Frame is an open object or array.
type Frame struct {
	Object bool
	Name   string // the key of this value; for an element, the key of its array
	Key    string // the current key of an object, "" if it has escapes or is not ASCII
	Start  int

	expectKey     bool
	callerKeys    bool                // the keys in it are the caller's own words
	visited       bool                // it was visited as one text
	exempt        *node               // the exemptions in it, nil for none
	responseKnown bool                // isResponse is set
	isResponse    bool                // it is a Response object
	annotations   Span                // the list of its member annotations
	firstKey      int                 // index of its first key in Walker.keys
	keySet        map[string]struct{} // its keys, if there are many
	keySetSize    int                 // what keySet costs, in bytes
}

// Walk goes through the object. It fails only for a request, with a [*DuplicateError] or a
// [*LimitError].
func (w *Walker) Walk() error {
	w.Frames, w.keys, w.keySetSize, w.lastLogprobs = w.Frames[:0], w.keys[:0], 0, -1
	skip := 0 // open levels of a value that is skipped
	for i := 0; i < len(w.Data) && !w.Stop; {
		switch c := w.Data[i]; c {
		case '"':
			end, _ := jsonscan.StringEnd(w.Data, i)
			if skip == 0 {
				if err := w.text(i, end); err != nil {
					return err
				}
			}
			i = end
			continue
		case ':':
			if skip == 0 && w.inArguments() {
				w.scalar(i + 1)
			}
		case '{', '[':
			if skip > 0 || w.echoed() {
				skip++
				break
			}
			if w.inArguments() {
				w.visit(Span{i, valueEnd(w.Data, i)})
			}
			w.open(c == '{', i)
		case '}', ']':
			if skip > 0 {
				skip--
			} else {
				w.close(i + 1)
			}
		case ',':
			if n := len(w.Frames); skip == 0 && n > 0 && w.Frames[n-1].Object {
				w.Frames[n-1].expectKey = true
			}
		}
		i++
	}
	return nil
}

// text handles a string, which is a key or a value.
func (w *Walker) text(start, end int) error {
	if len(w.Frames) > 0 {
		top := &w.Frames[len(w.Frames)-1]
		if top.expectKey {
			return w.setKey(top, start+1, end-1)
		}
		if top.visited {
			return nil
		}
		exempt := top.exempt
		if top.Object {
			exempt = exempt.below(top.Key)
		}
		if w.echoed() || exempt.covers(w.Data[start+1:end-1]) {
			return nil
		}
	}
	w.visit(Span{start, end})
	return nil
}

// inArguments reports whether the walk is at the value of a member "arguments" that was not visited
// yet.
func (w *Walker) inArguments() bool {
	n := len(w.Frames)
	if n == 0 {
		return false
	}
	top := &w.Frames[n-1]
	return top.Object && top.Key == "arguments" && !top.callerKeys && !top.visited
}

// scalar visits the value after start if it is a number, true or false.
func (w *Walker) scalar(start int) {
	for isBlank(w.Data[start]) {
		start++
	}
	switch w.Data[start] {
	case '"', '{', '[', 'n':
		return
	}
	end := start
	for c := w.Data[end]; !isBlank(c) && c != ',' && c != '}'; c = w.Data[end] {
		end++
	}
	w.visit(Span{start, end})
}

// isBlank reports whether c is JSON white space.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

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
		members := jsonscan.Members(object, nil)
		if i, ok := jsonscan.Find(object, members, "object"); ok {
			s, _ := jsonscan.String(members[i].Value(object))
			top.isResponse = s == "response"
		}
		top.responseKnown = true
	}
	return top.isResponse
}

func (w *Walker) open(object bool, start int) {
	child := Frame{Object: object, expectKey: object, Start: start, firstKey: len(w.keys)}
	if len(w.Frames) > 0 {
		top := &w.Frames[len(w.Frames)-1]
		child.callerKeys, child.Name, child.visited, child.exempt = top.callerKeys, top.Name, top.visited, top.exempt
		if top.Object {
			child.Name = top.Key
			child.exempt = top.exempt.below(top.Key)
			child.visited = top.visited || w.inArguments()
			child.callerKeys = top.callerKeys || callerKeys[top.Key]
		}
	} else if child.exempt = exemptInRequests; w.Answer {
		child.exempt = exemptInAnswers
	}
	w.Frames = append(w.Frames, child)
}

// close closes the innermost frame, which ends before end.
func (w *Walker) close(end int) {
	n := len(w.Frames) - 1
	top := &w.Frames[n]
	w.keySetSize -= top.keySetSize
	w.keys = w.keys[:top.firstKey]
	if top.annotations.End > 0 && w.onAnnotations != nil {
		w.onAnnotations(Span{top.Start, end}, top.annotations)
	}
	if n > 0 && !top.Object && w.Frames[n-1].Object && top.Name == "annotations" {
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
		w.Logprobs(Span{start, valueEnd(w.Data, start)})
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

// valueEnd returns the end of the valid object or array at start.
func valueEnd(data []byte, start int) int {
	depth := 0
	for i := start; i < len(data); {
		switch data[i] {
		case '"':
			i, _ = jsonscan.StringEnd(data, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return len(data)
}
