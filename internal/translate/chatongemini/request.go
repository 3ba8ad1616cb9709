// Package chatongemini serves a caller of chat completions by a provider that has Google's
// generateContent: the Gemini API, or Vertex AI.
//
//	body, original, err := chatongemini.Request(chat, options)  // a GenerateContentRequest
//	events := original.Stream(answer, call, again)              // a chat stream of its events
//	chat, err := original.Whole(answer, call, again)            // one chat completion
//
// Sources: Google's GenAI SDKs (Python 3.4.0, JavaScript 3.1.0, Go 1.77.0), gemini-cli 0.61.0, and
// Google's pages on the Gemini API. Nothing here was tried against an account.
package chatongemini

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the model as the provider calls it: what it takes depends on its generation.
	UpstreamModel string

	// MaxOutput is the limit of the output in tokens that the provider gets, instead of the
	// request's max_completion_tokens and max_tokens. 0 leaves the request's own, if it has one.
	MaxOutput int64

	// Safety is the operator's safetySettings, a JSON array; nil for those of the provider.
	Safety []byte
}

// Original is what of a request its answer needs. [Request] makes it.
type Original struct {
	functions     translate.Functions
	hideReasoning bool
	searches      bool   // the provider may cite sources
	body          []byte // the request that was sent, if its answer may have to be continued; else nil
	hops          int    // further requests that may continue it
	dummies       func() []byte
	leftOut       []string
}

// LeftOut returns the names of the fields that the request is sent without.
func (o *Original) LeftOut() []string { return o.leftOut }

const (
	// longAnswer is how many tokens a model writes for one request at most. A longer answer is continued.
	longAnswer = 65_536
	// maxRequests bounds the requests for one answer: they are more than any model writes.
	maxRequests = 64
)

// Requests returns how many requests an answer of so many tokens may take. One more than its length needs
// may bring nothing. Each of them is billed for the prompt.
func Requests(output int64) int64 {
	if output <= longAnswer {
		return 1
	}
	return min((output+longAnswer-1)/longAnswer+1, maxRequests)
}

// translation is one request on its way.
type translation struct {
	opt      Options
	model    model
	body     translate.Object
	out      []byte // the request so far
	turns    turns
	tools    tools
	limit    int64 // of the output; 0: none
	original Original
}

// Request translates a chat completion request that params.ParseChat accepted to a
// GenerateContentRequest, which is the same whether or not the answer is streamed. It reads b as it was
// parsed, without the edits that b has collected. The error is a [*apierror.Error] with status 400 that
// names the field which the provider or this model does not take, or whose value is invalid. Neither
// result refers to b.
func Request(b *jsonscan.Body, opt Options) (body []byte, original *Original, err error) {
	t := translation{opt: opt, model: modelOf(opt.UpstreamModel)}
	if t.body, t.original.functions, err = translate.AsTools(translate.Body(b)); err != nil {
		return nil, nil, err
	}
	t.turns.model = &t.model
	t.out = make([]byte, 0, len(b.Data())+len(b.Data())/8+512)
	if err := t.write(); err != nil {
		return nil, nil, t.original.functions.Refusal(err)
	}
	return t.out, &t.original, nil
}

// write writes the members of the request:
//
//	{"systemInstruction", "contents", "tools", "toolConfig", "generationConfig", "safetySettings", "serviceTier"}
func (t *translation) write() (err error) {
	if t.original.leftOut, err = fields.Check(t.body, translate.ChatNeutral.Has); err != nil {
		return err
	}
	if t.original.functions { // the caller did not say it: there is one call by their form
		t.original.leftOut = slices.DeleteFunc(t.original.leftOut, func(field string) bool { return field == "parallel_tool_calls" })
	}
	if _, t.limit, err = translate.OutputLimit(t.body); err != nil {
		return err
	}
	if t.opt.MaxOutput > 0 {
		t.limit = t.opt.MaxOutput
	}
	t.out = append(t.out, '{')
	for _, step := range []func() error{t.putContents, t.putTools, t.putGeneration, t.putTier} {
		if err := step(); err != nil {
			return err
		}
	}
	if t.opt.Safety != nil {
		t.out = translate.AppendMember(t.out, "safetySettings", t.opt.Safety)
	}
	t.out = append(t.out, '}')
	o := &t.original
	o.leftOut = append(o.leftOut, t.turns.leftOut...)
	o.searches = t.tools.search
	if o.hops = int(Requests(t.limit)) - 1; o.hops > 0 {
		o.body = t.out
	}
	if sent := t.turns.signed; len(sent) > 0 {
		body := t.out
		o.dummies = func() []byte { return withDummies(body, sent) }
	}
	return nil
}

func (t *translation) putContents() (err error) {
	if err = t.turns.read(t.body); err != nil {
		return err
	}
	t.original.leftOut = append(t.original.leftOut, t.turns.leftOut...)
	t.turns.leftOut = nil
	t.out = t.turns.append(t.out)
	return nil
}

func (t *translation) putTools() error {
	if err := t.tools.read(t.body, &t.model); err != nil {
		return err
	}
	t.out = t.tools.append(t.out)
	return nil
}

// putTier maps service_tier. Other tiers of OpenAI have no counterpart.
func (t *translation) putTier() error {
	switch tier, err := t.body.DecodedText("service_tier"); {
	case err != nil:
		return err
	case tier == "flex" || tier == "priority":
		t.out = translate.AppendTextMember(t.out, "serviceTier", []byte(tier))
	case tier != "" && tier != "auto" && tier != "default":
		return translate.UnsupportedValue("service_tier", tier)
	}
	return nil
}
