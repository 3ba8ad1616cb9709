package chatonresponses

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// item is what is known of an output item.
type item struct {
	index int64  // its output_index, -1 for none
	id    []byte // quoted; nil for none
	kind  itemKind
	parts []part
	joins translate.Surrogates
	done  bool

	call   int    // which tool call it is
	callID []byte // quoted
	custom bool   // the tool is a custom one
}

type itemKind uint8

const (
	hiddenItem itemKind = iota // nothing of it is shown
	messageItem
	reasoningItem
	callItem
)

// part is a part of an item; a tool call has one, its arguments.
type part struct {
	index   int64
	summary bool // of reasoning: a part of the summary, not of the reasoning itself
	emitted bool // some of it was emitted
	cited   bool // a citation of it was emitted
	done    bool

	before int64 // the characters of the texts before it
}

// hostedItems are the item types that are not read here. Those that are true are the traces of
// tools that the provider ran: its text contains their outcome. Without one of the others, or an
// item that is not in the table, a part of the answer would be missing: such an answer fails.
var hostedItems = map[string]bool{
	"code_interpreter_call": true, "file_search_call": true, "mcp_call": true, "mcp_list_tools": true,
	"web_search_call": true, "compaction": true,

	"apply_patch_call": false, "computer_call": false, "image_generation_call": false,
	"local_shell_call": false, "mcp_approval_request": false, "shell_call": false,
}

// kindOf returns the kind of an item by its quoted type. It is false for an item that a chat
// completion cannot have.
func kindOf(typ []byte) (kind itemKind, ok bool) {
	switch string(typ) {
	case `"message"`:
		return messageItem, true
	case `"reasoning"`:
		return reasoningItem, true
	case `"function_call"`, `"custom_tool_call"`:
		return callItem, true
	}
	name, _ := translate.Unquoted(typ)
	return hiddenItem, hostedItems[string(name)]
}

// unknownItem is the failure of an answer with an item that a chat completion cannot have. It
// repeats only types that are known, not what a provider made up.
func unknownItem(call *openai.Call, typ []byte) *apierror.Error {
	what := "an item"
	if name, _ := translate.Unquoted(typ); len(name) > 0 {
		if _, known := hostedItems[string(name)]; known {
			what += " of type " + string(typ)
		}
	}
	return translate.ProviderFailure(call, "answered with "+what+", which a chat completion cannot contain")
}

// maxItemID bounds the id of an item that is held; known ones have 60 bytes.
const maxItemID = 256

// itemList has the items of a response that began. A pointer to an item is valid until the next is
// added.
type itemList struct {
	items []item
	parts int // items, and parts of them
}

// find returns the item of this kind at an output_index, nil if there is none. The id decides if a
// provider leaves the index out or gives it to several items. Otherwise the id does not count: some
// providers change it from event to event.
func (l *itemList) find(index int64, id []byte, kind itemKind) (found *item) {
	for i := len(l.items) - 1; i >= 0; i-- {
		it := &l.items[i]
		if it.kind != kind || index >= 0 && it.index != index {
			continue
		}
		if id == nil || bytes.Equal(it.id, id) {
			return it
		}
		if index >= 0 && found == nil {
			found = it
		}
	}
	return found
}

// findCall returns the tool call of an item, nil for a new one. The ids of calls, unlike those of
// items, are reliable. added says that an event announces the item.
func (l *itemList) findCall(index int64, id, callID []byte, added bool) *item {
	for i := len(l.items) - 1; i >= 0; i-- {
		it := &l.items[i]
		if it.kind != callItem || index >= 0 && it.index != index {
			continue
		}
		switch {
		case it.callID != nil && callID != nil:
			if bytes.Equal(it.callID, callID) {
				return it
			}
		case index >= 0:
			return it
		case id == nil && added:
			return nil
		case id == nil || bytes.Equal(it.id, id):
			return it
		}
	}
	return nil
}

// get is find, and adds the item if there is none.
func (l *itemList) get(index int64, id []byte, kind itemKind) *item {
	if it := l.find(index, id, kind); it != nil {
		return it
	}
	return l.add(index, id, kind)
}

func (l *itemList) add(index int64, id []byte, kind itemKind) *item {
	it := item{index: index, kind: kind}
	if len(id) <= maxItemID {
		it.id = bytes.Clone(id)
	}
	l.items = append(l.items, it)
	l.parts++
	return &l.items[len(l.items)-1]
}

// hasCall reports whether a tool call has this id.
func (l *itemList) hasCall(id []byte) bool {
	for i := range l.items {
		if it := &l.items[i]; it.kind == callItem && bytes.Equal(it.callID, id) {
			return true
		}
	}
	return false
}

// part returns a part of an item, and adds it if there is none. before is the number of characters
// of the texts before a new one.
func (l *itemList) part(it *item, index int64, summary bool, before int64) *part {
	for i := len(it.parts) - 1; i >= 0; i-- {
		if p := &it.parts[i]; p.index == index && p.summary == summary {
			return p
		}
	}
	it.parts = append(it.parts, part{index: index, summary: summary, before: before})
	l.parts++
	return &it.parts[len(it.parts)-1]
}
