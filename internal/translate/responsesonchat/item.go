package responsesonchat

import (
	"bytes"
	"encoding/json"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// kind is a kind of output item.
type kind uint8

const (
	reasoning kind = iota
	message
	functionCall
	customCall
	searchCall // a search for tools that the caller runs
)

// texts are how the text of an item goes into events.
type texts struct {
	delta, done string // the types of the events; "" if only the item has the text
	member      string // of the second
	part        string // the type of the events around it up to the last word; "" for none
}

// kinds has the prefixes of the items' ids, by kind, and their texts.
var kinds = [...]struct {
	prefix string
	texts
}{
	reasoning:    {"rs", texts{"response.reasoning_summary_text.delta", "response.reasoning_summary_text.done", "text", "response.reasoning_summary_part"}},
	message:      {"msg", texts{"response.output_text.delta", "response.output_text.done", "text", "response.content_part"}},
	functionCall: {"fc", texts{"response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments", ""}},
	customCall:   {"ctc", texts{"response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", "input", ""}},
	searchCall:   {prefix: "tsc"},
}

// refusals are the texts of a message in which the model refuses.
var refusals = texts{"response.refusal.delta", "response.refusal.done", "refusal", "response.content_part"}

// texts are those of a part.
func (it *item) texts(p *part) *texts {
	if p.refusal {
		return &refusals
	}
	return &kinds[it.kind].texts
}

// The statuses of items and of the response.
const (
	inProgress = "in_progress"
	completed  = "completed"
	incomplete = "incomplete"
	failed     = "failed"
)

// item is an output item of the response.
type item struct {
	kind   kind
	index  int // in the output
	id     []byte
	status string
	parts  []part // of reasoning one, the summary; of a call one, its arguments or input

	callID, namespace, name []byte      // of a call, quoted; a nil namespace is none
	input                   inputReader // of a custom call
	signed                  translate.SignedReasoning
}

// part is a part of an item.
type part struct {
	refusal     bool
	text        []byte // JSON without quotes
	joins       translate.Surrogates
	annotations []byte // elements
	annotated   int    // how many
	logprobs    []byte // elements
}

// last returns the part that is open, nil if there is none.
func (it *item) last() *part {
	if len(it.parts) == 0 {
		return nil
	}
	return &it.parts[len(it.parts)-1]
}

// isCall reports whether the item is a call of a tool.
func (it *item) isCall() bool { return it.kind >= functionCall }

// hasArguments reports whether the arguments of a call are complete.
func (it *item) hasArguments() bool {
	if it.kind == customCall {
		return it.input.whole()
	}
	quoted := append(append([]byte{'"'}, it.parts[0].text...), '"')
	text, ok := jsonscan.String(quoted)
	return ok && json.Valid([]byte(text))
}

// append appends the item with what it has so far.
func (it *item) append(dst []byte) []byte {
	dst = translate.AppendMember(append(dst, '{'), "id", it.id)
	switch it.kind {
	case reasoning:
		dst = append(dst, `,"type":"reasoning","summary":[`...)
	case message:
		dst = append(dst, `,"type":"message","role":"assistant","content":[`...)
	case functionCall:
		dst = it.appendCall(dst, "function_call")
		dst = translate.AppendTextMember(dst, "arguments", it.parts[0].text)
	case customCall:
		dst = it.appendCall(dst, "custom_tool_call")
		dst = translate.AppendTextMember(dst, "input", it.parts[0].text)
	case searchCall:
		dst = append(dst, `,"type":"tool_search_call","execution":"client"`...)
		dst = translate.AppendMember(dst, "call_id", it.callID)
		dst = translate.AppendMember(dst, "arguments", it.parts[0].object())
	}
	if !it.isCall() {
		for i := range it.parts {
			dst = it.parts[i].append(translate.AppendComma(dst), it.kind)
		}
		dst = append(dst, ']')
	}
	if len(it.signed.Elements) > 0 {
		dst = translate.AppendMember(dst, "encrypted_content", translate.WrapReasoning(it.signed.Elements))
	}
	return append(translate.AppendTextMember(dst, "status", []byte(it.status)), '}')
}

// appendCall appends what calls of functions and of custom tools have.
func (it *item) appendCall(dst []byte, typ string) []byte {
	dst = translate.AppendTextMember(dst, "type", []byte(typ))
	dst = translate.AppendMember(dst, "call_id", it.callID)
	dst = translate.AppendMember(dst, "name", it.name)
	if it.namespace != nil {
		dst = translate.AppendMember(dst, "namespace", it.namespace)
	}
	return dst
}

// object returns the object that the text of a part is, an empty one if it is none.
func (p *part) object() []byte {
	text := []byte(translate.Decoded(append(append([]byte{'"'}, p.text...), '"')))
	if text = bytes.TrimSpace(text); len(text) == 0 || text[0] != '{' || !json.Valid(text) {
		return []byte("{}")
	}
	return replaceLineEnds(text)
}

func (p *part) append(dst []byte, k kind) []byte {
	switch {
	case k == reasoning:
		dst = translate.AppendTextMember(append(dst, `{"type":"summary_text"`...), "text", p.text)
	case p.refusal:
		dst = translate.AppendTextMember(append(dst, `{"type":"refusal"`...), "refusal", p.text)
	default:
		dst = translate.AppendTextMember(append(dst, `{"type":"output_text"`...), "text", p.text)
		dst = append(dst, `,"annotations":[`...)
		dst = append(dst, p.annotations...)
		dst = append(dst, `],"logprobs":[`...)
		dst = append(append(dst, p.logprobs...), ']')
	}
	return append(dst, '}')
}

// grow adds a piece of text, JSON without quotes, and returns what of it can be shown now.
func (p *part) grow(piece []byte) []byte {
	piece = p.joins.Next(piece)
	p.text = append(p.text, piece...)
	return piece
}

// rest adds what replaces half a character that stayed alone, and returns it; nil for none.
func (p *part) rest() []byte {
	rest := p.joins.Rest()
	p.text = append(p.text, rest...)
	return rest
}

// urlCitation returns an annotation with every key that SDKs require.
func urlCitation(c translate.Citation) []byte {
	a := []byte(`{"type":"url_citation"`)
	a = translate.AppendMember(a, "url", c.URL)
	a = translate.AppendMember(a, "title", c.Title)
	a = translate.AppendMember(a, "start_index", c.Start)
	a = translate.AppendMember(a, "end_index", c.End)
	return append(a, '}')
}
