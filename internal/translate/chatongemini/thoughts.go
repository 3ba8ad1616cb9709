package chatongemini

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// format names the form of reasoning_details with Google's signatures, as OpenRouter has it.
const format = "google-gemini-v1"

// thoughts is the state of what is written as reasoning_details: pieces of one run of thoughts have
// the same index, and a signature has one of its own.
type thoughts struct {
	count   int    // elements that began
	running bool   // the last one is a run of thoughts
	text    []byte // of the run, for a whole answer
	scratch []byte // the element that is written
}

// thought takes a piece of thoughts, JSON without quotes. A stream has an element for each piece,
// and a whole answer one for each run.
func (r *reader) thought(piece []byte) {
	t := &r.thoughts
	if r.original.hideReasoning {
		return
	}
	r.begin(false)
	if !t.running {
		t.running = true
		t.count++
	}
	if r.whole {
		t.text = append(t.text, piece...)
		r.keep(2 * len(piece))
		r.to.Reasoning(piece, nil)
		return
	}
	r.to.Reasoning(piece, t.element("reasoning.text", "text", piece, nil))
}

// endThought ends a run of thoughts.
func (r *reader) endThought() {
	t := &r.thoughts
	if t.running = false; len(t.text) > 0 {
		r.to.Reasoning(nil, t.element("reasoning.text", "text", t.text, nil))
		t.text = nil
	}
}

// sign writes a signature. The id is that of the call which must return with it, nil for a text.
func (r *reader) sign(signature, id []byte) {
	r.call.ReportSealed(signature)
	if r.original.hideReasoning {
		return
	}
	r.endThought()
	r.begin(false)
	r.thoughts.count++
	data, _ := translate.Unquoted(signature)
	r.to.Reasoning(nil, r.thoughts.element("reasoning.encrypted", "data", data, id))
	r.keep(len(data))
}

// element returns an element of reasoning_details. It is valid until the next.
func (t *thoughts) element(typ, key string, text, id []byte) []byte {
	if cap(t.scratch) > translate.MaxScratch {
		t.scratch = nil
	}
	b := translate.AppendTextMember(append(t.scratch[:0], '{'), "type", []byte(typ))
	b = translate.AppendTextMember(b, key, text)
	if id != nil {
		b = translate.AppendMember(b, "id", id)
	}
	b = translate.AppendTextMember(b, "format", []byte(format))
	t.scratch = append(translate.AppendIntMember(b, "index", int64(t.count-1)), '}')
	return t.scratch
}
