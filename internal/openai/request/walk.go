package request

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// maxFrames is how deep a walker looks. Providers read no id below six levels
// of messages, input or tools; what lies deeper belongs to some schema.
const maxFrames = 24

// walker reads a valid JSON value once, from end to end, and collects the
// references and the tools in it. It keeps one frame a level and no other memory, so that a
// body made of a million empty objects costs nothing but the reading.
type walker struct {
	root   string // messages, input, tools, tool_choice or a field that is not known
	field  string // the top-level field: root, or the envelope that has it
	path   string // how errors name root
	refs   *Refs
	frames [maxFrames]frame
	depth  int // how many are open, those beyond maxFrames counted
}

// frame is an object or array that is open.
type frame struct {
	object    bool
	expectKey bool
	opaque    bool   // data of the caller, in which no provider reads ids or tools
	opened    string // the known key it is the value of, "" for any other
	key       string // the current known key of an object, "" for any other
	current   fact   // what that key says something of, if it is spelled exactly

	// Of an object that the provider may look up by its id:
	typ      string // its type, if that is in the table
	id       []byte
	repeated bool // there is a second id

	facts [factCount]state

	toolFrame
}

// fact is something that a member of an object says of it, and that decides
// whether the object is what its id names, or only names it, and where a tool
// runs. Only the exact spelling says it: to a decoder that minds the case,
// "Type" says nothing.
type fact uint8

const (
	noFact fact = iota
	hasType
	hasRole
	hasContent
	hasEncrypted
	hasResult
	runsAtClient // execution of a tool
	isLocal      // environment of a tool
	factCount    = iota
)

// state is what is known of a fact.
type state uint8

const (
	unset state = iota
	yes
	contradicted // a member of the name says otherwise, whatever else one says
)

var factKeys = map[string]fact{
	"type": hasType, "role": hasRole, "content": hasContent, "encrypted_content": hasEncrypted, "result": hasResult,
	"execution": runsAtClient, "environment": isLocal,
}

// say notes what the current member says.
func (f *frame) say(is bool) { f.note(f.current, is) }

func (f *frame) note(of fact, is bool) {
	switch {
	case of == noFact:
	case !is:
		f.facts[of] = contradicted
	case f.facts[of] == unset:
		f.facts[of] = yes
	}
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
				f.expectKey, f.key, f.current = true, "", noFact
			}
			i++
		case 'n', 't', 'f':
			if f := w.top(); f != nil {
				f.say(false)
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
	if f != nil && f.object {
		child.opened = f.key
		if f.current != isLocal { // which its object says when it ends
			f.say(f.current == hasContent)
		}
	}
	if f != nil {
		child.opaque = f.opaque || opaqueFields[f.key] || f.inside && schemaFields[f.key]
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
	if f == nil || f.opaque {
		return
	}
	w.closeTool(f, w.top())
	switch {
	case f.id == nil || !w.refers(f, element):
	case f.repeated && w.refs.err == nil:
		w.refs.fail(wrong(w.path+".id", "given once in an item"))
	default:
		w.refs.add(w.path, "id", openai.KindItem, f.id)
	}
}

// refers reports whether an object with an id leaves it to the provider to look
// up what it is. An element of input does that too if it says no type and is
// no message: the type of an item reference is optional.
func (w *walker) refers(f *frame, element bool) bool {
	if f.typ != "" {
		if content := stateFields.byType[f.typ]; f.facts[content] != yes {
			return true
		}
	}
	message := f.facts[hasRole] == yes && f.facts[hasContent] == yes
	return element && w.root == "input" && f.facts[hasType] != yes && !message
}

// text takes a string, a key or a value.
func (w *walker) text(value []byte) {
	f := w.top()
	switch {
	case f == nil:
		return
	case f.object && f.expectKey:
		f.expectKey = false
		if !f.opaque {
			f.key, f.current = knownKey(value)
			w.toolKey(f)
		}
		return
	case f.opaque:
		return
	case !f.object:
		w.toolText(f, value)
		if kind, ok := stateFields.nested[f.opened]; ok {
			w.refs.add(w.path, f.opened, kind, value)
		}
		return
	}
	f.say(len(value) > len(`""`) || f.current == hasContent) // a message may be empty
	switch f.key {
	case "":
	case "tools", "execution", "environment":
		w.toolText(f, value)
	case "type":
		w.typed(f, value)
	case "id":
		kind, ok := stateFields.within[f.opened]
		if !ok {
			kind, ok = stateFields.nested[f.opened]
		}
		if ok {
			w.refs.add(w.path, f.opened+".id", kind, value)
			return
		}
		f.repeated = f.id != nil
		f.id = value
	default:
		if kind, ok := stateFields.nested[f.key]; ok {
			w.refs.add(w.path, f.key, kind, value)
		}
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
