package chatongemini

import (
	"bytes"
	"cmp"
	"net/http"
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/gemini"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// writer writes an answer as chat.
type writer interface {
	translate.Content
	Image(url []byte)
	Call(n int, id, name, arguments, extra []byte)
}

const (
	// maxID bounds the id of a call, in bytes; known ones have about 30.
	maxID = 256

	// maxReason bounds a finishReason that is held; known ones have 25 bytes.
	maxReason = 64
)

// reader reads the events of an answer, each a GenerateContentResponse, and gives their content to
// a writer:
//
//	{"candidates": [{"content": {"parts": [PART, …]}, "finishReason": "STOP"}],
//	 "usageMetadata": {…}, "promptFeedback": {"blockReason": "…"}}
//	PART: {"text": "…", "thought": true, "thoughtSignature": "…"}, {"functionCall": {"name", "args", "id"}},
//	      {"inlineData": {"mimeType", "data"}}
type reader struct {
	call     *openai.Call
	original *Original
	to       writer
	whole    bool // the answer is written when it is complete

	begun    bool // the writer has begun
	spoke    bool // something was written that is no thought
	parts    int  // of all kinds
	ids      []string
	thoughts thoughts
	usage    usage
	before   before

	finish  finish
	sources sources
	size    int // bytes that are kept
	ending  completion.Ending
}

// finish is what a candidate says at its end. Texts are JSON without quotes.
type finish struct {
	reason  string // finishReason; "" before it has come
	message []byte // finishMessage
	token   []byte // continuationToken
}

// before is what was read of the event before: others may repeat it if it has one text and nothing
// special.
type before struct {
	shape   int // 0 if none may
	vars    [openai.Variables]openai.Variable
	texts   int
	thought bool // the text is a thought
	special bool // it has what no other event repeats
}

// event takes one event.
func (r *reader) event(e *openai.Event) error {
	if r.before.shape != 0 && e.Repeats() && e.Shape() == r.before.shape {
		r.parts++
		r.usage.last = append(r.usage.last[:0], e.Value(openai.VarUsage)...)
		text, _ := translate.Unquoted(e.Value(openai.VarText))
		r.text(text, r.before.thought, nil)
		return r.checkSize()
	}
	r.before = before{}
	if e.Data[0] == '[' { // an error, as the Gemini API answers where it does not stream
		return &completion.Reported{Body: readError(0, e.Data).refusal().Body}
	}
	found, err := e.Members()
	if err != nil {
		return translate.ProviderFailure(r.call, "answered what is not JSON").WithCause(err)
	}
	data := e.Data
	if i, ok := jsonscan.Find(data, found, "usageMetadata"); ok && r.usage.note(found[i].Value(data)) { // it counts also beside a failure
		r.before.vars[openai.VarUsage] = openai.Variable{Start: found[i].ValueStart, End: found[i].ValueEnd}
	}
	for _, m := range found {
		value := m.Value(data)
		switch string(m.DecodedKey(data)) {
		case "error":
			if m.Kind == '{' {
				return &completion.Reported{Body: readError(0, data).refusal().Body}
			}
		case "promptFeedback":
			if reason := translate.TextOf(value, "blockReason"); reason != "" {
				why := cmp.Or(translate.TextOf(value, "blockReasonMessage"), "the prompt was blocked: "+reason)
				return &completion.Reported{Body: errorBody(http.StatusBadRequest, "content_policy_violation", why)}
			}
		case "candidates":
			for span := range jsonscan.AllElements(value) {
				if err := r.candidate(gemini.ReadCandidate(m.ValueStart+span.Start, span.Value(value))); err != nil {
					return err
				}
				break // the request was for one
			}
		}
	}
	if b := &r.before; b.texts == 1 && !b.special && e.Learn(b.vars) {
		b.shape = e.Shape()
	}
	return r.checkSize()
}

// candidate takes the one candidate of an event.
func (r *reader) candidate(c gemini.Candidate) error {
	r.before.special = c.Extra
	if reason, _ := translate.Unquoted(c.FinishReason); c.FinishReason != nil && len(reason) <= maxReason {
		r.finish.reason = string(reason)
	}
	if text, _ := translate.Unquoted(c.FinishMessage); c.FinishMessage != nil {
		r.finish.message = bytes.Clone(text)
	}
	if text, _ := translate.Unquoted(c.ContinuationToken); c.ContinuationToken != nil {
		r.finish.token = bytes.Clone(text)
	}
	if len(c.GroundingMetadata) > len("{}") { // as it may be in events with text
		r.sources.grounding = bytes.Clone(c.GroundingMetadata)
	}
	if c.CitationMetadata != nil {
		r.sources.citations = bytes.Clone(c.CitationMetadata)
	}
	logprobs := logprobsOf(c.LogprobsResult)
	for p := range c.Parts() {
		if err := r.part(&p, &logprobs); err != nil {
			return err
		}
	}
	if len(logprobs) > 0 { // of no text
		r.text(nil, false, logprobs)
	}
	return nil
}

// part takes a part, and the log probabilities of its text.
func (r *reader) part(p *gemini.Part, logprobs *[]byte) error {
	r.parts++
	if p.Text != nil {
		r.before.texts++
		r.before.vars[openai.VarText], r.before.thought = p.TextAt, p.Thought
	}
	r.before.special = r.before.special || p.Signature != nil || p.Call != nil || p.InlineData != nil || p.Other
	text, _ := translate.Unquoted(p.Text)
	_, signed := translate.Unquoted(p.Signature)
	if !signed {
		p.Signature = nil
	}
	switch {
	case p.Call != nil:
		return r.startCall(p.Call, p.Signature)
	case p.InlineData != nil:
		r.image(p.InlineData)
	case p.Thought:
		r.text(text, true, nil)
	default:
		r.text(text, false, *logprobs)
		*logprobs = nil
	}
	if signed {
		r.sign(p.Signature, nil)
	}
	return nil
}

// begin makes the writer begin, once.
func (r *reader) begin(text bool) {
	if !r.begun {
		r.begun = true
		r.to.Begin(text)
	}
}

// speak begins what is no thought.
func (r *reader) speak(text bool) {
	r.endThought()
	r.begin(text)
	r.spoke = true
}

// text takes a piece of text or of thoughts, JSON without quotes.
func (r *reader) text(piece []byte, thought bool, logprobs []byte) {
	switch {
	case len(piece) == 0 && len(logprobs) == 0:
	case thought:
		r.thought(piece)
	default:
		r.speak(true)
		r.to.Text(piece, logprobs)
		r.keep(len(piece))
		if r.original.searches {
			r.sources.text = jsonscan.AppendText(r.sources.text, piece)
			r.size += len(piece)
		}
	}
}

// startCall takes a call with its signature, nil for none. An id that is missing or stands twice
// becomes one of ours.
func (r *reader) startCall(object, signature []byte) error {
	n, id, name := len(r.ids), bytes.Clone(translate.Member(object, "id")), bytes.Clone(translate.Member(object, "name"))
	if _, ok := translate.Unquoted(name); !ok {
		return translate.ProviderFailure(r.call, translate.NamelessCall)
	}
	if n > 0 && bool(r.original.functions) {
		return translate.ProviderFailure(r.call, translate.SecondFunction)
	}
	if _, ok := translate.Unquoted(id); !ok || len(id) > maxID || slices.Contains(r.ids, string(id)) {
		id = openai.NewCallID(r.call, n)
	}
	r.ids = append(r.ids, string(id))
	r.speak(false)
	var extra []byte
	if signature != nil {
		r.sign(signature, id)
		extra = slices.Concat([]byte(`{"google":{"thought_signature":`), signature, []byte("}}"))
	}
	arguments := translate.Member(object, "args")
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	quoted := jsonscan.AppendString(nil, string(arguments))
	r.to.Call(n, id, r.original.names.Caller(name), quoted[1:len(quoted)-1], extra)
	r.size += len(id)
	r.keep(len(name) + len(quoted) + len(extra))
	return nil
}

// image takes an image. Other data is not asked for.
func (r *reader) image(object []byte) {
	typ, _ := translate.Unquoted(translate.Member(object, "mimeType"))
	data, _ := translate.Unquoted(translate.Member(object, "data"))
	if !bytes.HasPrefix(typ, []byte("image/")) {
		return
	}
	r.speak(false)
	r.to.Image(slices.Concat([]byte("data:"), typ, []byte(";base64,"), data))
	r.keep(len(data))
}

// keep counts what a whole answer keeps.
func (r *reader) keep(bytes int) {
	if r.whole {
		r.size += bytes
	}
}

// checkSize fails an answer of which more is kept than any should need.
func (r *reader) checkSize() error {
	if bad := translate.CheckSize(r.call, len(r.ids), r.size); bad != nil {
		return bad
	}
	return nil
}
