package openai

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/fault"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Kind is a kind of state that a provider keeps at the account it is called
// with, which many tenants share.
type Kind string

// The kinds.
const (
	KindResponse     Kind = "response"
	KindConversation Kind = "conversation"
	KindItem         Kind = "item"
	KindFile         Kind = "file"
	KindVectorStore  Kind = "vector_store"
	KindContainer    Kind = "container"
	KindPrompt       Kind = "prompt"
	KindSkill        Kind = "skill"
	KindAudio        Kind = "audio"
)

// stateFields is the table of how a request names stored state. Keys match
// whatever their case, as decoders written in Go read them.
var stateFields = struct {
	// top are members of the body: an id, or an object with one.
	top map[string]Kind
	// nested are members anywhere below messages, input and tools: an id, or
	// an array of them.
	nested map[string]Kind
	// within are objects below messages whose `id` is one.
	within map[string]Kind
	// byType are items whose `id` the provider looks up, unless the member
	// beside carries what it would look for.
	byType map[string]telling
}{
	top: map[string]Kind{
		"previous_response_id": KindResponse,
		"conversation":         KindConversation,
		"prompt":               KindPrompt,
	},
	nested: map[string]Kind{
		"file_id":             KindFile,
		"file_ids":            KindFile,
		"vector_store_id":     KindVectorStore,
		"vector_store_ids":    KindVectorStore,
		"container":           KindContainer,
		"container_id":        KindContainer,
		"skill_id":            KindSkill,
		"approval_request_id": KindItem,
	},
	within: map[string]Kind{
		"audio": KindAudio,
	},
	byType: map[string]telling{
		"item_reference":        0,
		"reasoning":             tellsEncrypted,
		"image_generation_call": tellsResult,
	},
}

// schemaFields are members of a tool whose content describes data instead of
// being it: a property called file_id names no file.
var schemaFields = map[string]bool{"parameters": true, "schema": true, "input_schema": true, "output_schema": true}

const (
	// maxReferences is how many references one body may make. Each costs a
	// look-up of its owner.
	maxReferences = 256

	// maxReference bounds one id, which goes into an error text.
	maxReference = 512
)

// Ref is one reference to stored state.
type Ref struct {
	Param string // the field that makes it, such as "input.file_id"
	Kind  Kind
	ID    string
}

// Refs is what a request asks of the provider's account.
type Refs struct {
	IDs        []Ref
	Background bool // `background` is true
	Tools      ToolUse

	err error // the first that is wrong with a reference
}

// References finds every reference that a chat or Responses body, which
// jsonscan.Strict accepted with these members, makes to state kept at the
// provider's account, and every tool that it declares. Both can stand anywhere
// in messages, input and tools, so they are read to the end in one pass, unless
// the first walk saw no key in them that could name anything. With an error,
// which is of the references, the tools are whole all the same.
func References(body []byte, members []jsonscan.Member) (Refs, error) {
	var refs Refs
	for _, m := range members {
		value := m.Value(body)
		switch key := m.Key(body); string(foldKey(key)) {
		case "previous_response_id", "conversation":
			refs.top(strings.ToLower(string(key)), value, m.Kind)
		case "prompt":
			if m.Kind != 'n' {
				refs.Tools.AddHosted(storedPrompt, "prompt")
			}
			refs.top("prompt", value, m.Kind)
		case "background":
			var err error
			refs.Background, err = flag(body, members, string(key))
			refs.fail(err)
		case "messages":
			if mayRefer(m.Nested) {
				refs.walk("messages", value)
			}
		case "input":
			if mayRefer(m.Nested) {
				refs.walk("input", value)
			}
		case "tools":
			switch m.Kind {
			case 'n':
			case '[':
				refs.walk("tools", value)
			default:
				refs.fail(wrong("tools", "an array"))
			}
		case "functions": // of the chat API's first form
			refs.Tools.Count += count(body, members, string(key))
		case "tool_choice":
			refs.walk("tool_choice", value)
		case "web_search_options", "search_parameters", "enable_search", "mcp_servers":
			// The searches of OpenAI, xAI and Qwen; servers of the Model Context Protocol.
			if m.Kind != 'n' && m.Kind != 'f' {
				refs.Tools.AddHosted(string(key), string(key))
			}
		default:
			if (m.Kind == '{' || m.Kind == '[') && m.Nested.MayHave(toolsKey) && !boundedFields[string(key)] {
				refs.walk(string(key), value)
			}
		}
	}
	if refs.err != nil {
		return Refs{Tools: refs.Tools}, refs.err
	}
	return refs, nil
}

// The keys without which messages and input refer to nothing and bring no tool:
// one that names stored state, or an item's.
var (
	namingKeys = func() (s jsonscan.KeySet) {
		for key := range stateFields.nested {
			s |= jsonscan.KeysOf(key)
		}
		for key := range stateFields.within {
			s |= jsonscan.KeysOf(key)
		}
		return s
	}()
	idKey    = jsonscan.KeysOf("id")
	toolsKey = jsonscan.KeysOf("tools")
)

func mayRefer(nested jsonscan.KeySet) bool { return nested.MayHave(namingKeys | idKey | toolsKey) }

// foldKey returns key, in lower case if it has upper.
func foldKey(key []byte) []byte {
	if hasUpper(key) {
		return bytes.ToLower(key)
	}
	return key
}

func (r *Refs) top(param string, value []byte, kind byte) {
	switch kind {
	case 'n':
		return
	case '"':
		r.add(param, stateFields.top[param], value)
		return
	case '{':
		found := false
		for m := range jsonscan.AllMembers(value) {
			if m.Kind == '"' && strings.EqualFold(string(keyOf(value, m)), "id") {
				found = true
				r.add(param+".id", stateFields.top[param], m.Value(value))
			}
		}
		if found {
			return
		}
	}
	r.fail(wrong(param, "a string or an object with an id"))
}

func (r *Refs) walk(root string, value []byte) {
	w := walker{root: root, refs: r}
	w.walk(value)
}

func (r *Refs) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *Refs) add(param string, kind Kind, value []byte) {
	if r.err != nil { // no reference will be looked up
		return
	}
	id, ok := jsonscan.String(value)
	switch {
	case !ok || id == "":
		r.fail(wrong(param, "an id"))
	case len(id) > maxReference:
		r.fail(wrong(param, "an id of at most "+strconv.Itoa(maxReference)+" bytes"))
	case len(r.IDs) == maxReferences:
		r.fail(fault.New(fault.InvalidValue, "the request refers to more than %d stored objects", maxReferences).WithParam(param))
	default:
		r.IDs = append(r.IDs, Ref{Param: param, Kind: kind, ID: id})
	}
}
