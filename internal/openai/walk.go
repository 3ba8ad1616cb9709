package openai

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxFrames is how deep a walker looks. Providers read no id below six levels
// of messages, input or tools; what lies deeper belongs to some schema.
const maxFrames = 24

// walker reads a valid JSON value once, from end to end, and collects the
// references and the tools in it. It keeps one frame a level and no other memory, so that a
// body made of a million empty objects costs nothing but the reading.
type walker struct {
	root   string // the top-level field: messages, input, tools, tool_choice or one not known
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
	typ      string // its type, if that is in the table
	id       []byte
	repeated bool // there is a second id

	tells       telling // the current key of an object, spelled exactly
	says, lacks telling // members with a value, and members without

	toolFrame
}

// telling are the members that decide whether an object is what its id names,
// or only names it. They count as spelled here: to a decoder that minds the
// case, "Type" says nothing.
type telling uint8

const (
	tellsType telling = 1 << iota
	tellsRole
	tellsContent
	tellsEncrypted
	tellsResult
	tellsExecution   // of a tool
	tellsEnvironment // of a tool
)

var tellingKeys = map[string]telling{
	"type": tellsType, "role": tellsRole, "content": tellsContent,
	"encrypted_content": tellsEncrypted, "result": tellsResult,
	"execution": tellsExecution, "environment": tellsEnvironment,
}

func (w *walker) walk(data []byte) {
	for i := 0; i < len(data); {
		switch c := data[i]; c {
		case '"':
			end := stringEnd(data, i)
			w.text(data[i:end])
			i = end
		case '{', '[':
			w.open(c == '{')
			i++
		case '}', ']':
			w.close()
			i++
		case ',':
			if f := w.top(); f != nil && f.object {
				f.expectKey, f.key, f.tells = true, "", 0
			}
			i++
		case 'n', 't', 'f':
			if f := w.top(); f != nil {
				f.lacks |= f.tells
			}
			i += len("null") // or true, or most of false: no structure in it
		default:
			i++
		}
	}
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
	f := w.top()
	if f != nil {
		child.schema = f.schema
		if f.object {
			child.opened = f.key
			f.says |= f.tells & tellsContent
			f.lacks |= f.tells &^ (tellsContent | tellsEnvironment)
			child.schema = child.schema || f.inside && schemaFields[f.key]
		}
	}
	if f != nil || w.depth == 0 {
		w.openTool(&child, f)
	}
	w.depth++
	if f := w.top(); f != nil {
		*f = child
	}
}

func (w *walker) close() {
	f, element := w.top(), w.depth == 2
	w.depth--
	if f == nil {
		return
	}
	w.closeTool(f, w.top())
	switch {
	case f.id == nil || f.schema || !w.refers(f, element):
	case f.repeated:
		w.refs.fail(wrong(w.root+".id", "given once in an item"))
	default:
		w.refs.add(w.root+".id", KindItem, f.id)
	}
}

// refers tells whether an object with an id leaves it to the provider to look
// up what it is. An element of input does that too if it says no type and is
// no message: the type of an item reference is optional.
func (w *walker) refers(f *frame, element bool) bool {
	says := f.says &^ f.lacks
	if f.typ != "" {
		if content := stateFields.byType[f.typ]; content == 0 || says&content == 0 {
			return true
		}
	}
	const message = tellsRole | tellsContent
	return element && w.root == "input" && says&tellsType == 0 && says&message != message
}

// text takes a string, a key or a value.
func (w *walker) text(value []byte) {
	f := w.top()
	switch {
	case f == nil || f.schema && !f.expectKey:
		return
	case f.object && f.expectKey:
		f.expectKey = false
		f.key, f.tells = knownKey(value)
		w.toolKey(f)
		return
	case !f.object:
		w.toolText(f, value)
		if kind, ok := stateFields.nested[f.opened]; ok {
			w.refs.add(w.root+"."+f.opened, kind, value)
			return
		}
		return
	}
	if len(value) > len(`""`) || f.tells == tellsContent { // a message may be empty
		f.says |= f.tells
	} else {
		f.lacks |= f.tells
	}
	switch f.key {
	case "":
		return
	case "tools", "execution", "environment":
		w.toolText(f, value)
		return
	case "type":
		w.typed(f, value)
		return
	case "id":
		kind, ok := stateFields.within[f.opened]
		if !ok {
			kind, ok = stateFields.nested[f.opened]
		}
		if ok {
			w.refs.add(w.root+"."+f.opened+".id", kind, value)
			return
		}
		f.repeated = f.id != nil
		f.id = value
		return
	}
	if kind, ok := stateFields.nested[f.key]; ok {
		w.refs.add(w.root+"."+f.key, kind, value)
	}
}

// typed takes the type of an object.
func (w *walker) typed(f *frame, value []byte) {
	name := value[1 : len(value)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		s, _ := jsonscan.String(value)
		name = []byte(s)
	}
	if _, ok := stateFields.byType[string(name)]; ok {
		f.typ = string(name)
	}
	w.toolType(f, name)
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
