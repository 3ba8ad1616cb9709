package document

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Walker goes once through a valid JSON object, from end to end, and visits
// every string in it that is to be read, and as one text what a member
// "arguments" has that is no string: it goes out as the text of it. It keeps a
// frame for each level and the keys of the objects that are open.
type Walker struct {
	Data   []byte
	Answer bool // what is echoed is left out, and keys may repeat
	Event  bool // of a stream: what is echoed is only in its response

	// Visit is given each string, quotes included.
	Visit func(at Span)

	// Logprobs, if set, is given each value of a member logprobs with a string
	// in it, instead of those strings.
	Logprobs func(at Span)

	// Stop is set by Visit: nothing more is to be read.
	Stop bool

	// Frames are the objects and arrays that are open. What it is set to before
	// the walk is used again.
	Frames []Frame

	// annotated, if set, is told of each object with annotations, of which
	// the list is given too, when it ends.
	onAnnotations func(object, list Span)

	keys         []Span
	keySetSize   int // what the keys in the maps of the frames cost
	lastLogprobs int // where the last value given to Logprobs begins
}

// Span is a stretch of a body, in bytes, the end not included.
type Span struct{ Start, End int }

// Frame is an object or array that is open.
type Frame struct {
	Object bool
	Name   string // the key it is the value of; of an array's element, the array's
	Key    string // the current key of an object, "" if it is not plain
	Start  int

	expectKey     bool
	callerKeys    bool                // keys are the caller's own
	visited       bool                // the text of it was visited
	exempt        *node               // its place, nil if nothing below is exempt
	responseKnown bool                // whether it is a Response was looked up:
	isResponse    bool                // it is
	annotations   Span                // its annotations
	firstKey      int                 // where its keys begin in Walker.keys
	keySet        map[string]struct{} // its keys, once there are many
	keySetSize    int                 // what they cost
}

// Walk goes through the object. The error, of a request only, is a
// [*DuplicateError] or a [*LimitError].
func (w *Walker) Walk() error {
	w.Frames, w.keys, w.keySetSize, w.lastLogprobs = w.Frames[:0], w.keys[:0], 0, -1
	skip := 0 // how many levels of a value that is not read are open
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

// text takes a string: a key or a value.
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

// inArguments tells whether the walk is at the value of a member "arguments"
// of which nothing was visited yet.
func (w *Walker) inArguments() bool {
	n := len(w.Frames)
	if n == 0 {
		return false
	}
	top := &w.Frames[n-1]
	return top.Object && top.Key == "arguments" && !top.callerKeys && !top.visited
}

// scalar visits the value behind start if it is a number or a truth value.
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

// isBlank tells whether c is white space of JSON.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Member is the member of the body that is being read.
func (w *Walker) Member() string {
	if len(w.Frames) > 0 && w.Frames[0].Key != "" {
		return w.Frames[0].Key
	}
	return "the body"
}

// echoed tells whether the value the walk is at is what a Response repeats of
// its request.
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

// close ends the innermost frame; end is behind it.
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

// visit passes on a string, or the token probabilities that it is in.
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

// inLogprobs tells whether the walk is below a member logprobs, and where the
// value of it begins.
func (w *Walker) inLogprobs() (start int, ok bool) {
	for i := range w.Frames {
		if w.Frames[i].Name == "logprobs" {
			return w.Frames[i].Start, true
		}
	}
	return 0, false
}

// valueEnd returns where the valid object or array at start ends.
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
