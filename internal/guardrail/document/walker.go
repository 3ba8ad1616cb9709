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
	annotated func(object, list Span)

	keys         []Span
	held         int // what the keys in the maps of the frames cost
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

	expectKey bool
	free      bool                // keys are the caller's own
	read      bool                // the text of it was visited
	at        *node               // its place, nil if nothing below is exempt
	asked     bool                // whether it is a Response was looked up:
	response  bool                // it is
	notes     Span                // its annotations
	keys      int                 // where its keys begin in Walker.keys
	many      map[string]struct{} // its keys, once there are many
	held      int                 // what they cost
}

// Walk goes through the object. The error, of a request only, is a
// [*DuplicateError] or a [*LimitError].
func (f *Walker) Walk() error {
	f.Frames, f.keys, f.held, f.lastLogprobs = f.Frames[:0], f.keys[:0], 0, -1
	skip := 0 // how many levels of a value that is not read are open
	for i := 0; i < len(f.Data) && !f.Stop; {
		switch c := f.Data[i]; c {
		case '"':
			end, _ := jsonscan.StringEnd(f.Data, i)
			if skip == 0 {
				if err := f.text(i, end); err != nil {
					return err
				}
			}
			i = end
			continue
		case ':':
			if skip == 0 && f.inArguments() {
				f.scalar(i + 1)
			}
		case '{', '[':
			if skip > 0 || f.echoed() {
				skip++
				break
			}
			if f.inArguments() {
				f.visit(Span{i, valueEnd(f.Data, i)})
			}
			f.open(c == '{', i)
		case '}', ']':
			if skip > 0 {
				skip--
			} else {
				f.close(i + 1)
			}
		case ',':
			if n := len(f.Frames); skip == 0 && n > 0 && f.Frames[n-1].Object {
				f.Frames[n-1].expectKey = true
			}
		}
		i++
	}
	return nil
}

// text takes a string: a key or a value.
func (f *Walker) text(start, end int) error {
	if len(f.Frames) > 0 {
		top := &f.Frames[len(f.Frames)-1]
		if top.expectKey {
			return f.setKey(top, start+1, end-1)
		}
		if top.read {
			return nil
		}
		place := top.at
		if top.Object {
			place = place.below(top.Key)
		}
		if f.echoed() || place.exempts(f.Data[start+1:end-1]) {
			return nil
		}
	}
	f.visit(Span{start, end})
	return nil
}

// inArguments tells whether the walk is at the value of a member "arguments"
// of which nothing was visited yet.
func (f *Walker) inArguments() bool {
	n := len(f.Frames)
	if n == 0 {
		return false
	}
	top := &f.Frames[n-1]
	return top.Object && top.Key == "arguments" && !top.free && !top.read
}

// scalar visits the value behind start if it is a number or a truth value.
func (f *Walker) scalar(start int) {
	for isBlank(f.Data[start]) {
		start++
	}
	switch f.Data[start] {
	case '"', '{', '[', 'n':
		return
	}
	end := start
	for c := f.Data[end]; !isBlank(c) && c != ',' && c != '}'; c = f.Data[end] {
		end++
	}
	f.visit(Span{start, end})
}

// isBlank tells whether c is white space of JSON.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// Member is the member of the body that is being read.
func (f *Walker) Member() string {
	if len(f.Frames) > 0 && f.Frames[0].Key != "" {
		return f.Frames[0].Key
	}
	return "the body"
}

// echoed tells whether the value the walk is at is what a Response repeats of
// its request.
func (f *Walker) echoed() bool {
	n := len(f.Frames)
	if !f.Answer || n == 0 || n > 2 {
		return false
	}
	top := &f.Frames[n-1]
	if n == 1 && f.Event || n == 2 && top.Name != "response" || !echoedBy[top.Key] {
		return false
	}
	if !top.asked {
		object := f.Data[top.Start:]
		members := jsonscan.Members(object, nil)
		if i, ok := jsonscan.Find(object, members, "object"); ok {
			s, _ := jsonscan.String(members[i].Value(object))
			top.response = s == "response"
		}
		top.asked = true
	}
	return top.response
}

func (f *Walker) open(object bool, start int) {
	child := Frame{Object: object, expectKey: object, Start: start, keys: len(f.keys)}
	if len(f.Frames) > 0 {
		top := &f.Frames[len(f.Frames)-1]
		child.free, child.Name, child.read, child.at = top.free, top.Name, top.read, top.at
		if top.Object {
			child.Name = top.Key
			child.at = top.at.below(top.Key)
			child.read = top.read || f.inArguments()
			child.free = top.free || free[top.Key]
		}
	} else if child.at = unreadOfRequests; f.Answer {
		child.at = unreadOfAnswers
	}
	f.Frames = append(f.Frames, child)
}

// close ends the innermost frame; end is behind it.
func (f *Walker) close(end int) {
	n := len(f.Frames) - 1
	top := &f.Frames[n]
	f.held -= top.held
	f.keys = f.keys[:top.keys]
	if top.notes.End > 0 && f.annotated != nil {
		f.annotated(Span{top.Start, end}, top.notes)
	}
	if n > 0 && !top.Object && f.Frames[n-1].Object && top.Name == "annotations" {
		f.Frames[n-1].notes = Span{top.Start, end}
	}
	f.Frames = f.Frames[:n]
}

// visit passes on a string, or the token probabilities that it is in.
func (f *Walker) visit(at Span) {
	if f.Logprobs == nil {
		f.Visit(at)
		return
	}
	start, ok := f.inLogprobs()
	if !ok {
		f.Visit(at)
	} else if start != f.lastLogprobs {
		f.lastLogprobs = start
		f.Logprobs(Span{start, valueEnd(f.Data, start)})
	}
}

// inLogprobs tells whether the walk is below a member logprobs, and where the
// value of it begins.
func (f *Walker) inLogprobs() (start int, ok bool) {
	for i := range f.Frames {
		if f.Frames[i].Name == "logprobs" {
			return f.Frames[i].Start, true
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
