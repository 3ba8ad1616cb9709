package chatonmessages

import (
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// block is what is known of a content block of an answer.
type block struct {
	index int64 // -1 for none
	kind  blockKind
	over  bool
	spoke bool // some of it was written
	joins translate.Surrogates

	n      int    // which block of thoughts, or which call
	signed bool   // of thoughts: their signature was written
	id     string // of a call, quoted
	input  []byte // of a call that has it at its start

	from  int64       // characters of the texts before it
	cites [][2][]byte // quoted URLs and titles that it cites
}

type blockKind uint8

const (
	hiddenBlock blockKind = iota // nothing of it is shown
	textBlock
	thinkingBlock
	redactedBlock
	callBlock
)

// hiddenBlocks are the traces of what the provider does besides the answer. The tools that it runs
// have types of their own: server_tool_use, web_search_tool_result, …
var hiddenBlocks = map[string]bool{"compaction": true, "container_upload": true, "fallback": true}

// kindOf returns the kind of a block by its quoted type. It is false for a block that is not known:
// without it a part of the answer would be missing.
func kindOf(typ []byte) (kind blockKind, ok bool) {
	switch string(typ) {
	case `"text"`:
		return textBlock, true
	case `"thinking"`:
		return thinkingBlock, true
	case `"redacted_thinking"`:
		return redactedBlock, true
	case `"tool_use"`:
		return callBlock, true
	}
	inner, _ := translate.Unquoted(typ)
	name := string(inner)
	return hiddenBlock, hiddenBlocks[name] || strings.HasSuffix(name, "_tool_use") || strings.HasSuffix(name, "_tool_result")
}

// find returns the block with an index that is not over, or the last of this kind if the provider
// gives no index; nil if there is none.
func (r *reader) find(index int64, kind blockKind) *block {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		if b := &r.blocks[i]; !b.over && (b.index == index || index < 0 && b.kind == kind) {
			return b
		}
	}
	return nil
}

// open returns the block with an index that is not over, the last one if the provider gives no
// index; nil if there is none.
func (r *reader) open(index int64) *block {
	for i := len(r.blocks) - 1; i >= 0; i-- {
		if b := &r.blocks[i]; !b.over && (b.index == index || index < 0) {
			return b
		}
	}
	return nil
}

func (r *reader) add(index int64, kind blockKind) *block {
	r.blocks = append(r.blocks, block{index: index, kind: kind, from: r.characters})
	r.parts++
	b := &r.blocks[len(r.blocks)-1]
	switch kind {
	case thinkingBlock, redactedBlock:
		b.n = r.thoughts.blocks
		r.thoughts.blocks++
	case callBlock:
		b.n = r.calls
		r.calls++
	}
	return b
}

// hasCall reports whether a call has this quoted id.
func (r *reader) hasCall(id []byte) bool {
	for i := range r.blocks {
		if b := &r.blocks[i]; b.kind == callBlock && b.id == string(id) {
			return true
		}
	}
	return false
}
