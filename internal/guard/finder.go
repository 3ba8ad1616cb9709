package guard

import (
	"bytes"
	"fmt"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxShownKey bounds a key quoted in an error: the caller chose its length.
const maxShownKey = 64

// DuplicateError says that an object of a request has a key twice, after
// decoding and but for case: what was judged may not be what is read. It is
// the caller's mistake (400).
type DuplicateError struct {
	Param string // the member of the body it is in
	Key   string // the key, cut to 64 bytes
}

func (e *DuplicateError) Error() string {
	return fmt.Sprintf("duplicate key %q in %s", e.Key, e.Param)
}

// finder goes once through a valid JSON object, from end to end, and visits
// every string in it that is to be read. It keeps a frame for each level
// and the keys of the objects that are open.
type finder struct {
	data   []byte
	answer bool // what is echoed is left out, and keys may repeat
	event  bool // of a stream: what is echoed is only in its response
	visit  func(start, end int)
	frames []frame
	keys   []span
}

type span struct{ start, end int }

// frame is an object or array that is open.
type frame struct {
	object    bool
	expectKey bool
	free      bool   // keys are the caller's own
	name      string // the key it is the value of; of an array's element, the array's
	key       string // the current key of an object, "" if it is not plain
	start     int
	keys      int                 // where its keys begin in finder.keys
	many      map[string]struct{} // its keys, once there are many
}

// manyKeys is how many keys of an object are compared in pairs; behind that
// they go into a map, or their number squared would be a caller's to choose.
const manyKeys = 16

func (f *finder) walk() error {
	f.frames, f.keys = f.frames[:0], f.keys[:0]
	skip := 0 // how many levels of a value that is not read are open
	for i := 0; i < len(f.data); {
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
		case '{', '[':
			if skip > 0 || f.passed(true, i) {
				skip++
			} else {
				f.open(c == '{', i)
			}
		case '}', ']':
			if skip > 0 {
				skip--
			} else {
				f.close()
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
		if top := &f.frames[len(f.frames)-1]; top.expectKey {
			return f.setKey(top, start+1, end-1)
		}
	}
	if !f.passed(false, start) {
		f.visit(start, end)
	}
	return nil
}

// setKey takes a key, given without its quotes.
func (f *finder) setKey(top *frame, start, end int) error {
	top.expectKey = false
	key := f.data[start:end]
	top.key = ""
	plain := isPlain(key)
	if plain {
		top.key = string(key)
	}
	if f.answer {
		return nil
	}
	if f.repeats(top, span{start, end}, plain) {
		return &DuplicateError{Param: f.param(), Key: string(key[:min(len(key), maxShownKey)])}
	}
	return nil
}

// repeats tells whether the object has the key already, and notes it.
func (f *finder) repeats(top *frame, key span, plain bool) bool {
	raw := f.data[key.start:key.end]
	before := f.keys[top.keys:]
	if len(before) < manyKeys {
		for _, other := range before {
			o := f.data[other.start:other.end]
			switch {
			case plain && isPlain(o):
				if bytes.Equal(raw, o) || !top.free && len(raw) == len(o) && bytes.EqualFold(raw, o) {
					return true
				}
			case canonical(raw, top.free) == canonical(o, top.free):
				return true
			}
		}
		f.keys = append(f.keys, key)
		return false
	}
	if top.many == nil {
		top.many = make(map[string]struct{}, 2*manyKeys)
		for _, other := range before {
			top.many[canonical(f.data[other.start:other.end], top.free)] = struct{}{}
		}
	}
	name := canonical(raw, top.free)
	_, twice := top.many[name]
	top.many[name] = struct{}{}
	return twice
}

// isPlain tells whether a key is ASCII without escapes.
func isPlain(key []byte) bool {
	for _, c := range key {
		if c == '\\' || c >= 0x80 {
			return false
		}
	}
	return true
}

// canonical is what a key is to a decoder that folds case, or to one that
// does not.
func canonical(key []byte, exact bool) string {
	s, _ := jsonscan.String(append(append([]byte{'"'}, key...), '"'))
	if exact {
		return s
	}
	runes := []rune(s)
	for i, r := range runes {
		runes[i] = fold(r)
	}
	return string(runes)
}

// param is the member of the body that is being read.
func (f *finder) param() string {
	if len(f.frames) > 0 && f.frames[0].key != "" {
		return f.frames[0].key
	}
	return "the body"
}

// passed tells whether the value at start, deep or a string, is not read.
func (f *finder) passed(deep bool, start int) bool {
	if len(f.frames) == 0 {
		return false
	}
	top := &f.frames[len(f.frames)-1]
	if !top.object || top.key == "" || top.free {
		return false
	}
	atTop := len(f.frames) == 1
	if f.answer && (atTop && !f.event || len(f.frames) == 2 && top.name == "response") && echoedBy[top.key] {
		return true
	}
	for _, p := range unreadBy[top.key] {
		if (p.deep || !deep) && (p.parent == "" || p.parent == top.name && !atTop || p.parent == "/" && atTop) {
			return true
		}
	}
	return top.key == "result" && !deep && f.isImage(top.start)
}

// isImage tells whether the item that begins at start makes an image.
func (f *finder) isImage(start int) bool {
	object := f.data[start:]
	members := jsonscan.Members(object, nil)
	i, ok := jsonscan.Find(object, members, "type")
	if !ok {
		return false
	}
	s, _ := jsonscan.String(members[i].Value(object))
	return s == imageCall
}

func (f *finder) open(object bool, start int) {
	child := frame{object: object, expectKey: object, start: start, keys: len(f.keys)}
	if len(f.frames) > 0 {
		top := &f.frames[len(f.frames)-1]
		child.free, child.name = top.free, top.name
		if top.object {
			child.name = top.key
			child.free = top.free || free[top.key]
		}
	}
	f.frames = append(f.frames, child)
}

func (f *finder) close() {
	n := len(f.frames) - 1
	f.keys = f.keys[:f.frames[n].keys]
	f.frames = f.frames[:n]
}
