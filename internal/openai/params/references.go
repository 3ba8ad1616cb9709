package params

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// stateFields is the table of how a request names stored state. The case of keys does not matter,
// as for decoders written in Go.
var stateFields = struct {
	// top are members of the body: an id, or an object with one.
	top map[string]openai.Kind
	// nested are members anywhere below messages, input and tools: an id, or an array of ids.
	nested map[string]openai.Kind
	// within are objects below messages whose `id` is one.
	within map[string]openai.Kind
	// byType are items whose `id` the provider looks up, unless the named member has the content.
	byType map[string]fact
}{
	top: map[string]openai.Kind{
		"previous_response_id": openai.KindResponse,
		"conversation":         openai.KindConversation,
		"prompt":               openai.KindPrompt,
	},
	nested: map[string]openai.Kind{
		"file_id":             openai.KindFile,
		"file_ids":            openai.KindFile,
		"vector_store_id":     openai.KindVectorStore,
		"vector_store_ids":    openai.KindVectorStore,
		"container":           openai.KindContainer,
		"container_id":        openai.KindContainer,
		"skill_id":            openai.KindSkill,
		"approval_request_id": openai.KindItem,
	},
	within: map[string]openai.Kind{
		"audio": openai.KindAudio,
	},
	byType: map[string]fact{
		"item_reference":        noFact,
		"reasoning":             hasEncrypted,
		"image_generation_call": hasResult,
	},
}

// schemaFields are members of a tool that describe data: a property called file_id names no file.
var schemaFields = map[string]bool{"parameters": true, "schema": true, "input_schema": true, "output_schema": true}

// maxReferences is how many references one body may make. Each costs a look-up of its owner.
const maxReferences = 256

// Ref is one reference to stored state.
type Ref struct {
	Param string // the field that makes it, such as "input.file_id"
	Kind  openai.Kind
	ID    string
}

// Refs is what a request asks of the provider's account.
type Refs struct {
	IDs        []Ref
	Background bool // `background` is true
	Tools      ToolUse
	Given      GivenIDs

	anthropic    bool   // the request is one of the Messages API
	promptIsText bool   // `prompt` names no stored prompt
	within       string // the envelope that is open, "" for none
	err          error  // the first error of a reference
}

// References finds every reference that a chat or Responses body makes to state kept at the
// provider's account, and every tool that it declares. Both can stand anywhere in messages, input
// and tools, so these are read to the end in one pass, unless the first walk saw no key in them
// that could name anything. The error is about the references; the tools are complete all the same.
func References(b *jsonscan.Body) (Refs, error) { return references(b, Refs{}) }

// references is [References] without the fields of the body that are no reference in its API.
func references(b *jsonscan.Body, refs Refs, except ...string) (Refs, error) {
	data := b.Data()
	for _, m := range b.Members() {
		if key := m.Key(data); len(except) == 0 || !slices.Contains(except, string(foldKey(key))) {
			refs.field(key, m.Value(data), m.Nested)
		}
	}
	if refs.err != nil {
		return Refs{Tools: refs.Tools, Given: refs.Given}, refs.err
	}
	return refs, nil
}

// field reads a top-level field, or a member of an envelope.
func (r *Refs) field(key, value []byte, nested jsonscan.KeySet) {
	folded := foldKey(key)
	switch string(folded) {
	case "previous_response_id", "conversation":
		r.top(string(folded), value)
	case "prompt":
		if r.promptIsText {
			return
		}
		if value[0] != 'n' {
			r.Tools.AddHosted(storedPrompt, r.outermost("prompt"))
		}
		r.top("prompt", value)
	case "background":
		switch value[0] {
		case 't':
			r.Background = true
		case 'f', 'n':
		default:
			r.fail(wrong(r.path(string(key)), "a boolean"))
		}
	case "messages":
		if mayRefer(nested) {
			r.walk("messages", value)
		}
	case "input":
		if mayRefer(nested) {
			r.walk("input", value)
		}
	case "tools":
		switch value[0] {
		case 'n':
		case '[':
			r.walk("tools", value)
		default:
			r.fail(wrong(r.path("tools"), "an array"))
		}
	case "functions": // of the chat API's first form
		r.Tools.Count += count(value)
	case "tool_choice":
		r.walk("tool_choice", value)
	case "extra_body":
		r.envelope(value)
	default:
		if r.anthropic && string(folded) == "container" {
			r.container(value)
			return
		}
		if h, ok := hostedFields[string(folded)]; ok {
			if !h.off(value) {
				r.Tools.AddHosted(string(key), r.outermost(string(key)))
			}
			return
		}
		kind, names := stateFields.nested[string(folded)]
		switch value[0] {
		case '{', '[':
			if !dataFields[string(folded)] && (names || nested.MayHave(toolsKey|nestedKeys)) {
				r.unknown(string(key), string(folded), value)
			}
		case '"':
			if names {
				r.add(r.path(string(key)), "", kind, value)
			}
		}
	}
}

// envelope reads extra_body, whose members some gateways (LiteLLM) make fields of the request that
// they send. Tools and references in it are judged as those beside it; what is judged only beside it
// is refused.
func (r *Refs) envelope(value []byte) {
	switch value[0] {
	case 'n':
		return
	case '{':
	default:
		r.fail(wrong("extra_body", "an object"))
		return
	}
	r.within = "extra_body"
	for m := range jsonscan.AllMembers(value) {
		key := m.DecodedKey(value)
		if folded := foldKey(key); outsideOnly[string(folded)] || outputNames[string(folded)] || optionFields[string(folded)] {
			param := r.path(string(key[:min(len(key), maxTypeName)]))
			r.fail(apierror.New(apierror.UnsupportedParameter, "%q is not possible: put the field beside extra_body, where it is checked", param).WithParam(param))
			continue
		}
		r.field(key, m.Value(value), m.Nested)
	}
	r.within = ""
}

// outermost returns the top-level field of a field: itself, or the envelope.
func (r *Refs) outermost(field string) string {
	if r.within != "" {
		return r.within
	}
	return field
}

// path returns the name of a field in errors.
func (r *Refs) path(field string) string {
	if r.within != "" {
		return r.within + "." + field
	}
	return field
}

// Without one of these keys, messages and input have no reference and no tool.
var (
	nestedKeys = keysOf(stateFields.nested)
	namingKeys = nestedKeys | keysOf(stateFields.within)
	idKey      = jsonscan.KeysOf("id")
	toolsKey   = jsonscan.KeysOf("tools")
	// hostedItemKeys are keys of items that make the provider run something.
	hostedItemKeys = jsonscan.KeysOf("fingerprint")
)

func mayRefer(nested jsonscan.KeySet) bool {
	return nested.MayHave(namingKeys | idKey | toolsKey | hostedItemKeys)
}

// foldKey returns a key in lower case, as decoders that ignore case read it.
func foldKey(key []byte) []byte {
	upper := false
	for _, c := range key {
		if c >= 0x80 { // to upper and back folds U+017F to s and U+212A to k too
			return bytes.ToLower(bytes.ToUpper(key))
		}
		upper = upper || 'A' <= c && c <= 'Z'
	}
	if upper {
		return bytes.ToLower(key)
	}
	return key
}

func (r *Refs) top(field string, value []byte) {
	param, kind := r.path(field), stateFields.top[field]
	switch value[0] {
	case 'n':
		return
	case '"':
		r.add(param, "", kind, value)
		return
	case '{':
		found := false
		for m := range jsonscan.AllMembers(value) {
			if m.Kind == '"' && string(foldKey(m.DecodedKey(value))) == "id" {
				found = true
				r.add(param, "id", kind, m.Value(value))
			}
		}
		if found {
			return
		}
	}
	r.fail(wrong(param, "a string or an object with an id"))
}

func (r *Refs) walk(root string, value []byte) {
	w := walker{root: root, field: r.outermost(root), path: r.path(root), refs: r}
	w.walk(value)
}

// unknown walks a field that the gateway does not know. Its own name may say that its texts are ids.
func (r *Refs) unknown(key, folded string, value []byte) {
	w := walker{root: key, field: r.outermost(key), path: r.path(key), refs: r}
	if _, names := stateFields.nested[folded]; names {
		w.frames[0], w.depth, w.path = frame{object: true, key: folded}, 1, r.within
	}
	w.walk(value)
}

func (r *Refs) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

// add adds the id that the field at path has, or its member ("" = the field itself).
func (r *Refs) add(path, member string, kind openai.Kind, value []byte) {
	if r.err != nil { // the request will be refused
		return
	}
	if member != "" {
		path = strings.TrimPrefix(path+"."+member, ".")
	}
	id, ok := jsonscan.String(value)
	switch {
	case !ok || id == "":
		r.fail(wrong(path, "an id"))
	case len(id) > openai.MaxStateID:
		r.fail(wrong(path, "an id of at most "+strconv.Itoa(openai.MaxStateID)+" bytes"))
	case len(r.IDs) == maxReferences:
		r.fail(apierror.New(apierror.InvalidValue, "the request refers to more than %d stored objects", maxReferences).WithParam(path))
	default:
		r.IDs = append(r.IDs, Ref{Param: path, Kind: kind, ID: id})
	}
}
