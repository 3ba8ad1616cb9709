package params

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// maxFrames is how deep a walker reads. Providers read no id below six levels of messages, input or
// tools; what is deeper belongs to a schema.
const maxFrames = 24

// walker goes once through a valid value and collects the references and the tools in it. It keeps
// one frame for each level and no other memory, so that a body of a million empty objects costs
// time only.
type walker struct {
	root   string // messages, input, tools, tool_choice or an unknown field
	field  string // the top-level field: root, or the envelope around it
	path   string // the name of root in errors
	refs   *Refs
	frames [maxFrames]frame
	depth  int // how many frames are open
}

// frame is an object or array that is open.
type frame struct {
	object  bool
	opened  string // the key of this value if it is known, else ""
	key     string // the current key of an object if it is known, else ""
	current fact   // the fact that this key decides, if it is spelled exactly

	// Of an object that the provider may look up by its id:
	typ      string // its type, if stateFields has it
	id       []byte
	repeated bool // there is a second id

	facts [factCount]state

	toolFrame
}

// fact is what a member states about its object. Facts decide whether an object has the content of
// its id or only refers to it, and where a tool runs. Only the exact spelling of a key counts: for
// a decoder that respects case, "Type" states nothing.
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

// state is what is known about a fact.
type state uint8

const (
	unset state = iota
	yes
	contradicted // one member denies it; others of its name do not matter
)

var factKeys = map[string]fact{
	"type": hasType, "role": hasRole, "content": hasContent, "encrypted_content": hasEncrypted, "result": hasResult,
	"execution": runsAtClient, "environment": isLocal,
}

// say notes what the current member states.
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

// walk reads a value. Numbers decide nothing.
func (w *walker) walk(data []byte) {
	tokens := jsonscan.Walk(data)
	for t, ok := tokens.Next(); ok; t, ok = tokens.Next() {
		switch t.Kind {
		case jsonscan.Key:
			w.key(data[t.Start:t.End])
		case '"':
			w.text(data[t.Start:t.End])
		case '{', '[':
			if !w.open(t.Kind == '{') {
				tokens.Skip()
			}
		case '}', ']':
			w.close()
		case 'n', 't', 'f':
			if f := w.top(); f != nil {
				f.say(false)
			}
		}
	}
}

// top returns the innermost open frame, nil for none.
func (w *walker) top() *frame {
	if w.depth == 0 {
		return nil
	}
	return &w.frames[w.depth-1]
}

// open adds the frame of an object or array. It is false if the content does not matter: it is too
// deep, or the caller's own data.
func (w *walker) open(object bool) bool {
	child := frame{object: object}
	f := w.top()
	if f != nil {
		if f.object {
			child.opened = f.key
			if f.current != isLocal { // closeTool decides that at the end of the object
				f.say(f.current == hasContent)
			}
		}
		if w.depth == maxFrames || opaqueFields[f.key] || f.inside && schemaFields[f.key] {
			return false
		}
	}
	w.openTool(&child, f)
	w.frames[w.depth] = child
	w.depth++
	return true
}

func (w *walker) close() {
	f, element := w.top(), w.depth == 2
	w.depth--
	w.closeTool(f, w.top())
	switch {
	case f.id == nil || !w.refers(f, element):
	case f.repeated && w.refs.err == nil:
		w.refs.fail(wrong(w.path+".id", "given once in an item"))
	default:
		w.refs.add(w.path, "id", openai.KindItem, f.id)
	}
}

// refers reports whether the provider looks up an object by its id. It also does so for an element
// of input without a type that is no message: the type of an item reference is optional.
func (w *walker) refers(f *frame, element bool) bool {
	if f.typ != "" {
		if content := stateFields.byType[f.typ]; f.facts[content] != yes {
			return true
		}
	}
	message := f.facts[hasRole] == yes && f.facts[hasContent] == yes
	return element && w.root == "input" && f.facts[hasType] != yes && !message
}

// key notes a key of the innermost object.
func (w *walker) key(quoted []byte) {
	f := w.top()
	f.key, f.current = knownKey(quoted)
	w.toolKey(f)
}

// text notes a string that is no key.
func (w *walker) text(value []byte) {
	f := w.top()
	switch {
	case f == nil:
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
		w.refs.Given.add(value)
	default:
		if kind, ok := stateFields.nested[f.key]; ok {
			w.refs.add(w.path, f.key, kind, value)
		}
	}
}

// typed notes the type of an object.
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
