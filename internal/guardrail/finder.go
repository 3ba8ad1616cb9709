package guardrail

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// finder goes once through a valid JSON object, from end to end, and visits
// every string in it that is to be read, and as one text what a member
// "arguments" has that is no string: it goes out as the text of it. It keeps a
// frame for each level and the keys of the objects that are open.
type finder struct {
	data   []byte
	answer bool // what is echoed is left out, and keys may repeat
	event  bool // of a stream: what is echoed is only in its response
	visit  func(start, end int)
	stop   bool // set by visit: nothing more is to be read

	// annotated, if set, is told of each object with annotations, of which
	// the list is given too, when it ends.
	annotated func(object, list span)

	frames []frame
	keys   []span
	held   int // what the keys in the maps of the frames cost
}

type span struct{ start, end int }

// frame is an object or array that is open.
type frame struct {
	object    bool
	expectKey bool
	free      bool   // keys are the caller's own
	read      bool   // the text of it was visited
	name      string // the key it is the value of; of an array's element, the array's
	key       string // the current key of an object, "" if it is not plain
	start     int
	at        *node               // its place, nil if nothing below is exempt
	asked     bool                // whether it is a Response was looked up:
	response  bool                // it is
	notes     span                // its annotations
	keys      int                 // where its keys begin in finder.keys
	many      map[string]struct{} // its keys, once there are many
	held      int                 // what they cost
}

func (f *finder) walk() error {
	f.frames, f.keys, f.held = f.frames[:0], f.keys[:0], 0
	skip := 0 // how many levels of a value that is not read are open
	for i := 0; i < len(f.data) && !f.stop; {
		switch c := f.data[i]; c {
		case '"':
			end, _ := jsonscan.StringEnd(f.data, i)
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
				f.visit(i, valueEnd(f.data, i))
			}
			f.open(c == '{', i)
		case '}', ']':
			if skip > 0 {
				skip--
			} else {
				f.close(i + 1)
			}
		case ',':
			if n := len(f.frames); skip == 0 && n > 0 && f.frames[n-1].object {
				f.frames[n-1].expectKey = true
			}
		}
		i++
	}
	return nil
}

// text takes a string: a key or a value.
func (f *finder) text(start, end int) error {
	if len(f.frames) > 0 {
		top := &f.frames[len(f.frames)-1]
		if top.expectKey {
			return f.setKey(top, start+1, end-1)
		}
		if top.read {
			return nil
		}
		place := top.at
		if top.object {
			place = place.below(top.key)
		}
		if f.echoed() || place.exempts(f.data[start+1:end-1]) {
			return nil
		}
	}
	f.visit(start, end)
	return nil
}

// inArguments tells whether the walk is at the value of a member "arguments"
// of which nothing was visited yet.
func (f *finder) inArguments() bool {
	n := len(f.frames)
	if n == 0 {
		return false
	}
	top := &f.frames[n-1]
	return top.object && top.key == "arguments" && !top.free && !top.read
}

// scalar visits the value behind start if it is a number or a truth value.
func (f *finder) scalar(start int) {
	for isBlank(f.data[start]) {
		start++
	}
	switch f.data[start] {
	case '"', '{', '[', 'n':
		return
	}
	end := start
	for c := f.data[end]; !isBlank(c) && c != ',' && c != '}'; c = f.data[end] {
		end++
	}
	f.visit(start, end)
}

// isBlank tells whether c is white space of JSON.
func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// param is the member of the body that is being read.
func (f *finder) param() string {
	if len(f.frames) > 0 && f.frames[0].key != "" {
		return f.frames[0].key
	}
	return "the body"
}

// echoed tells whether the value the walk is at is what a Response repeats of
// its request.
func (f *finder) echoed() bool {
	n := len(f.frames)
	if !f.answer || n == 0 || n > 2 {
		return false
	}
	top := &f.frames[n-1]
	if n == 1 && f.event || n == 2 && top.name != "response" || !echoedBy[top.key] {
		return false
	}
	if !top.asked {
		object := f.data[top.start:]
		s, _ := jsonscan.String(member(object, jsonscan.Members(object, nil), "object"))
		top.asked, top.response = true, s == "response"
	}
	return top.response
}

func (f *finder) open(object bool, start int) {
	child := frame{object: object, expectKey: object, start: start, keys: len(f.keys)}
	if len(f.frames) > 0 {
		top := &f.frames[len(f.frames)-1]
		child.free, child.name, child.read, child.at = top.free, top.name, top.read, top.at
		if top.object {
			child.name = top.key
			child.at = top.at.below(top.key)
			child.read = top.read || f.inArguments()
			child.free = top.free || free[top.key]
		}
	} else if child.at = unreadOfRequests; f.answer {
		child.at = unreadOfAnswers
	}
	f.frames = append(f.frames, child)
}

// close ends the innermost frame; end is behind it.
func (f *finder) close(end int) {
	n := len(f.frames) - 1
	top := &f.frames[n]
	f.held -= top.held
	f.keys = f.keys[:top.keys]
	if top.notes.end > 0 && f.annotated != nil {
		f.annotated(span{top.start, end}, top.notes)
	}
	if n > 0 && !top.object && f.frames[n-1].object && top.name == "annotations" {
		f.frames[n-1].notes = span{top.start, end}
	}
	f.frames = f.frames[:n]
}
