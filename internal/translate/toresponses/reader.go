package toresponses

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// responseReader reads what a response says, from the events of a stream or
// from the output of a whole one, and says it to a sink, each thing once:
// deltas say what the done events, the items and the response repeat, and a
// provider that leaves out some of them is understood all the same.
type responseReader struct {
	call     *openai.Call
	original *Original
	to       sink

	items   []outputItem
	calls   int   // tool calls begun
	parts   int   // items, and parts of them
	begun   bool  // the sink was told to begin
	thought bool  // some reasoning was said
	shift   int64 // characters of the texts that are over, for citations
	tokens  []byte
}

// outputItem is what is known of an output item.
type outputItem struct {
	place int64  // its output_index, -1 for none
	id    []byte // quoted; nil for none
	kind  outputKind
	parts []outputPart
	half  []byte // the escape of half a character, waiting for the other
	ended bool   // it was done

	call   int    // which tool call it is
	callID []byte // quoted
	custom bool   // of a custom tool
}

type outputKind uint8

const (
	silentItem outputKind = iota // nothing of it is shown
	messageItem
	reasoningItem
	callItem
)

// outputPart is a part of an item; a tool call has one, its arguments.
type outputPart struct {
	index   int64
	summary bool // of reasoning: a part of the summary, not of the thoughts
	said    bool // something of it was said
	cited   bool // so was a citation of it
	over    bool // all of it was

	before int64 // the characters of the texts before it
}

// otherItems are the items that are not read here. True are the traces of tools
// that the provider runs: its text says what came of them. The rest, and items
// that are not in the table, would be missed, and are a failure.
var otherItems = map[string]bool{
	"code_interpreter_call": true, "file_search_call": true, "mcp_call": true, "mcp_list_tools": true,
	"web_search_call": true, "compaction": true,

	"apply_patch_call": false, "computer_call": false, "image_generation_call": false,
	"local_shell_call": false, "mcp_approval_request": false, "shell_call": false,
}

func kindOf(typ []byte) (kind outputKind, known bool) {
	switch string(typ) {
	case `"message"`:
		return messageItem, true
	case `"reasoning"`:
		return reasoningItem, true
	case `"function_call"`, `"custom_tool_call"`:
		return callItem, true
	}
	name, _ := translate.Inner(typ)
	return silentItem, otherItems[string(name)]
}

// unknownItem is the failure of an answer with an item that cannot be shown. It
// names only types that are known: what a provider made up is not shown.
func (r *responseReader) unknownItem(typ []byte) *apierror.Error {
	what := "an item"
	if name, _ := translate.Inner(typ); len(name) > 0 {
		if _, known := otherItems[string(name)]; known {
			what += " of type " + string(typ)
		}
	}
	return translate.ProviderFailure(r.call, "answered with "+what+" that a chat completion cannot show")
}

// find returns the item of this kind at an output_index, nil if there is none.
// The id tells where a provider leaves the index out, or gives one to several;
// else it is not relied on: some give an item another id in each event.
func (r *responseReader) find(place int64, id []byte, kind outputKind) (found *outputItem) {
	for i := len(r.items) - 1; i >= 0; i-- {
		it := &r.items[i]
		if it.kind != kind || place >= 0 && it.place != place {
			continue
		}
		if id == nil || bytes.Equal(it.id, id) {
			return it
		}
		if place >= 0 && found == nil {
			found = it
		}
	}
	return found
}

// findCall returns the tool call that an item is of, nil for one that is new:
// calls have ids of their own, which are relied on.
func (r *responseReader) findCall(place int64, o outputMembers, begins bool) *outputItem {
	for i := len(r.items) - 1; i >= 0; i-- {
		it := &r.items[i]
		if it.kind != callItem || place >= 0 && it.place != place {
			continue
		}
		switch {
		case it.callID != nil && o.callID != nil:
			if bytes.Equal(it.callID, o.callID) {
				return it
			}
		case place >= 0:
			return it
		case o.id == nil && begins:
			return nil
		case o.id == nil || bytes.Equal(it.id, o.id):
			return it
		}
	}
	return nil
}

// item is find, and adds the item if there is none.
func (r *responseReader) item(place int64, id []byte, kind outputKind) *outputItem {
	if it := r.find(place, id, kind); it != nil {
		return it
	}
	return r.newItem(place, id, kind)
}

func (r *responseReader) newItem(place int64, id []byte, kind outputKind) *outputItem {
	it := outputItem{place: place, kind: kind}
	if len(id) <= maxItemID {
		it.id = bytes.Clone(id)
	}
	r.items = append(r.items, it)
	r.parts++
	return &r.items[len(r.items)-1]
}

// maxItemID bounds the id of an item that is held; known ones have 60 bytes.
const maxItemID = 256

// part returns a part of an item, and adds it if there is none.
func (r *responseReader) part(it *outputItem, index int64, summary bool) *outputPart {
	for i := len(it.parts) - 1; i >= 0; i-- {
		if p := &it.parts[i]; p.index == index && p.summary == summary {
			return p
		}
	}
	it.parts = append(it.parts, outputPart{index: index, summary: summary, before: r.shift})
	r.parts++
	return &it.parts[len(it.parts)-1]
}

// exceeded tells of an answer that has more items than any should have.
func (r *responseReader) exceeded() *apierror.Error {
	if r.parts > translate.MaxItems {
		return translate.ProviderFailure(r.call, "answered with too many items")
	}
	return nil
}

// beginCall begins a tool call, whose name is quoted.
func (r *responseReader) beginCall(place int64, id, callID, name []byte, custom bool) (*outputItem, *apierror.Error) {
	if _, ok := translate.Inner(name); !ok {
		return nil, translate.ProviderFailure(r.call, "answered with a tool call that names no function")
	}
	if callID == nil {
		callID = id
	}
	if r.called(callID) {
		callID = nil
	}
	it := r.newItem(place, id, callItem)
	it.call, it.callID, it.custom = r.calls, bytes.Clone(callID), custom
	r.calls++
	r.start(false)
	r.to.call(it.call, custom, it.callID, bytes.Clone(name))
	return it, nil
}

// called tells whether another tool call has this id. The results of the two
// could not be told apart, so the family makes up another for the second.
func (r *responseReader) called(id []byte) bool {
	for i := range r.items {
		if it := &r.items[i]; it.kind == callItem && bytes.Equal(it.callID, id) {
			return true
		}
	}
	return false
}
