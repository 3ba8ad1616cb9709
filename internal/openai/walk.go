package openai

import (
	"bytes"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxFrames is how deep a walker looks. Providers read no id below six levels
// of messages, input or tools; what lies deeper belongs to some schema.
const maxFrames = 24

// walker reads a valid JSON value once, from end to end, and collects the
// references in it. It keeps one frame a level and no other memory, so that a
// body made of a million empty objects costs nothing but the reading.
type walker struct {
	root   string // messages, input or tools
	refs   *Refs
	frames [maxFrames]frame
	depth  int // how many are open, those beyond maxFrames counted
}

// frame is an object or array that is open.
type frame struct {
	object    bool
	expectKey bool
	schema    bool   // it describes data
	opened    string // the known key it is the value of, "" for any other
	key       string // the current known key of an object, "" for any other

	// Of an object that the provider may look up by its id:
	typ       string // its type, if that is in the table
	id        []byte
	repeated  bool // there is a second id
	has, lack string
}

func (w *walker) walk(data []byte) error {
	for i := 0; i < len(data); {
		var err error
		switch c := data[i]; c {
		case '"':
			end := stringEnd(data, i)
			err = w.text(data[i:end])
			i = end
		case '{', '[':
			w.open(c == '{')
			i++
		case '}', ']':
			err = w.close()
			i++
		case ',':
			if f := w.top(); f != nil && f.object {
				f.expectKey, f.key = true, ""
			}
			i++
		case 'n', 't', 'f':
			if f := w.top(); f != nil && f.object && f.key != "" {
				f.lack = f.key
			}
			i += len("null") // or true, or most of false: no structure in it
		default:
			i++
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// top is the innermost open frame, nil where it is too deep to matter.
func (w *walker) top() *frame {
	if w.depth == 0 || w.depth > maxFrames {
		return nil
	}
	return &w.frames[w.depth-1]
}

func (w *walker) open(object bool) {
	child := frame{object: object, expectKey: object}
	if f := w.top(); f != nil {
		child.schema = f.schema
		if f.object {
			child.opened = f.key
			child.schema = child.schema || w.root == "tools" && schemaFields[f.key]
		}
	}
	w.depth++
	if f := w.top(); f != nil {
		*f = child
	}
}

func (w *walker) close() error {
	f := w.top()
	w.depth--
	if f == nil || f.typ == "" || f.id == nil || f.schema {
		return nil
	}
	if f.repeated {
		return wrong(w.root+".id", "given once in an item")
	}
	if content := stateFields.byType[f.typ]; content != "" && f.has == content && f.lack != content {
		return nil
	}
	return w.refs.add(w.root+".id", KindItem, f.id)
}

// text takes a string, a key or a value.
func (w *walker) text(value []byte) error {
	f := w.top()
	switch {
	case f == nil || f.schema && !f.expectKey:
		return nil
	case f.object && f.expectKey:
		f.expectKey = false
		f.key = knownKey(value)
		return nil
	case !f.object:
		if kind, ok := stateFields.nested[f.opened]; ok {
			return w.refs.add(w.root+"."+f.opened, kind, value)
		}
		return nil
	}
	switch f.key {
	case "":
		return nil
	case "type":
		return w.typed(f, value)
	case "id":
		kind, ok := stateFields.within[f.opened]
		if !ok {
			kind, ok = stateFields.nested[f.opened]
		}
		if ok {
			return w.refs.add(w.root+"."+f.opened+".id", kind, value)
		}
		f.repeated = f.id != nil
		f.id = value
		return nil
	}
	if kind, ok := stateFields.nested[f.key]; ok {
		return w.refs.add(w.root+"."+f.key, kind, value)
	}
	if len(value) > len(`""`) {
		f.has = f.key
	}
	return nil
}

// typed takes the type of an object.
func (w *walker) typed(f *frame, value []byte) error {
	name := value[1 : len(value)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		s, _ := jsonscan.String(value)
		name = []byte(s)
	}
	if _, ok := stateFields.byType[string(name)]; ok {
		f.typ = string(name)
	}
	if w.root == "tools" && w.depth == 2 && !ownTools[string(name)] {
		return w.refs.tool(string(name))
	}
	return nil
}

// known maps each key a walker stops at to itself.
var known = func() map[string]string {
	keys := map[string]string{"type": "type", "id": "id"}
	for key := range stateFields.nested {
		keys[key] = key
	}
	for key := range stateFields.within {
		keys[key] = key
	}
	for _, key := range stateFields.byType {
		if key != "" {
			keys[key] = key
		}
	}
	for key := range schemaFields {
		keys[key] = key
	}
	return keys
}()

// knownKey returns the known key that a quoted key is read as, or "".
func knownKey(quoted []byte) string {
	raw := quoted[1 : len(quoted)-1]
	for _, c := range raw {
		if c == '\\' || c >= 0x80 || 'A' <= c && c <= 'Z' {
			s, _ := jsonscan.String(quoted)
			// To upper and back folds U+017F to s and U+212A to k too.
			return known[strings.ToLower(strings.ToUpper(s))]
		}
	}
	return known[string(raw)]
}

// stringEnd returns the index behind the valid string that begins at i.
func stringEnd(data []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data)
		}
		i += n
		escaped := false
		for j := i - 1; data[j] == '\\'; j-- {
			escaped = !escaped
		}
		if !escaped {
			return i + 1
		}
	}
}
