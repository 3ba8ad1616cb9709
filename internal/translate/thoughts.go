package translate

import (
	"bytes"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// ClaudeThoughts names the form of reasoning_details with Anthropic's signatures, as OpenRouter has
// it.
const ClaudeThoughts = "anthropic-claude-v1"

// Thought is one block of a Claude's thoughts in reasoning_details. Its pieces in a stream may be
// elements of their own: they have the same index, and the last has the signature.
type Thought struct {
	Text      []byte // JSON without quotes
	Signature []byte // quoted
	Data      []byte // quoted, of thoughts that are encrypted

	index []byte // as written, nil for none
	id    string // whose thoughts they are
}

// EachThought calls put for the thoughts of a message that were signed for this very origin: a
// provider refuses changed ones, and those of others.
func EachThought(message Reader, origin string, put func(*Thought)) {
	var last Thought
	end := func() {
		if last.id == origin && (last.Signature != nil || last.Data != nil) {
			put(&last)
		}
	}
	message.Each("reasoning_details", MaxParts, func(_ int, detail Reader) {
		next := readThought(detail)
		switch {
		case next.Signature == nil && next.Data == nil && len(next.Text) == 0:
		case next.Data == nil && last.Data == nil && last.Signature == nil && next.index != nil && bytes.Equal(next.index, last.index):
			last.Text = append(last.Text, next.Text...)
			last.Signature = next.Signature
			if last.id == "" {
				last.id = next.id
			}
		default:
			end()
			last = next
		}
	})
	end()
}

// readThought reads an element of reasoning_details. It is empty for one that is not Anthropic's.
func readThought(detail Reader) (d Thought) {
	kind, from := detail.DecodedText("type"), detail.DecodedText("format")
	d.id, d.index = detail.DecodedText("id"), detail.Get("index")
	switch {
	case from != "" && from != ClaudeThoughts:
	case kind == "reasoning.text":
		text, _ := Unquoted(detail.Text("text"))
		d.Text, d.Signature = bytes.Clone(text), NonEmptyText(detail, "signature")
	case kind == "reasoning.encrypted":
		d.Data = NonEmptyText(detail, "data")
	}
	return d
}

// PutThoughtsOff writes the member thinking that switches the thoughts of a Claude off. Where it
// does not think unasked nothing is sent: some models refuse it. Way is the type that does so, ""
// for none.
func PutThoughtsOff(w *Writer, body Reader, thinks bool, way, param string) {
	if !thinks {
		return
	}
	if way == "" {
		body.Fail(apierror.New(apierror.UnsupportedParameter,
			"%q cannot switch the thoughts of this model off; leave it out, or ask for a low effort", param).WithParam(param))
	}
	w.Object("thinking")
	w.StringMember("type", way)
	w.End()
}

// PutAdaptive writes the member thinking that lets a Claude decide how long it thinks. Shown asks
// for a summary of thoughts that it hides.
func PutAdaptive(w *Writer, shown bool) {
	w.Object("thinking")
	w.StringMember("type", "adaptive")
	if shown {
		w.StringMember("display", "summarized")
	}
	w.End()
}

// leastBudget is the smallest budget of a Claude's thoughts, in tokens.
const leastBudget = 1024

// PutBudget writes the member thinking that lets a Claude think up to a number of tokens, which
// count as output. Limit is that of the output, 0 for none.
func PutBudget(w *Writer, body Reader, budget, limit int64, param string) {
	budget = max(budget, leastBudget)
	if limit > 0 && budget >= limit {
		body.Fail(apierror.New(apierror.InvalidValue, "%q gives thoughts %d tokens, and all of the answer may have %d: set a higher limit of the output",
			param, budget, limit).WithParam(param))
	}
	w.Object("thinking")
	w.StringMember("type", "enabled")
	w.IntMember("budget_tokens", budget)
	w.End()
}
