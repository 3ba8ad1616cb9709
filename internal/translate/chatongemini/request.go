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

	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
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
	names         translate.Names
	leftOut       []string
}

// LeftOut returns the names of the fields that the request is sent without.
func (o *Original) LeftOut() []string { return o.leftOut }

const (
	// longAnswer is how many tokens a model writes for one request at most. A longer answer is
	// continued.
	longAnswer = 65_536
	// maxRequests bounds the requests for one answer: they are more than any model writes.
	maxRequests = 64
)

// Requests returns how many requests an answer of so many tokens may take. One more than its length
// needs may bring nothing. Each of them is billed for the prompt.
func Requests(output int64) int64 {
	if output <= longAnswer {
		return 1
	}
	return min((output+longAnswer-1)/longAnswer+1, maxRequests)
}

// translation is one request on its way.
type translation struct {
	opt          Options
	model        model
	body         translate.Reader
	out          translate.Writer // the request so far
	conversation *conversation.Conversation
	signed       []int // where the values of signatures begin in the request
	limit        int64 // of the output; 0: none
	original     *Original
}

// Request translates a request to a GenerateContentRequest, which is the same whether or not the
// answer is streamed. The error is a [*apierror.Error] with status 400 that names the field which the
// provider or this model does not take, or whose value is invalid. Neither result refers to r.
func Request(r *conversation.Request, opt Options) (body []byte, original *Original, err error) {
	t := translation{opt: opt, model: modelOf(opt.UpstreamModel), body: r.Settings, original: &Original{functions: r.Functions}}
	t.original.leftOut = fields.Check(t.body, translate.ChatNeutral.Has)
	t.conversation = r.Read(&demands)
	t.original.leftOut = append(t.original.leftOut, t.conversation.LeftOut...)
	if t.out = translate.WriteTo(r.Room()); r.Err() == nil {
		t.write()
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	t.keep()
	return t.out.Bytes(), t.original, nil
}

// write writes the members of the request:
//
//	{"systemInstruction", "contents", "tools", "toolConfig", "generationConfig", "safetySettings", "serviceTier"}
func (t *translation) write() {
	if _, t.limit = translate.OutputLimit(t.body); t.opt.MaxOutput > 0 {
		t.limit = t.opt.MaxOutput
	}
	t.out.Object()
	w := parts{Writer: &t.out, body: t.body, model: &t.model}
	w.putTurns(t.conversation)
	t.signed = w.signed
	putTools(&t.out, t.conversation, t.searches())
	t.putGeneration()
	t.putTier()
	t.out.Member("safetySettings", t.opt.Safety)
	t.out.End()
}

// searches reports whether the caller wants Google searched (web_search_options).
func (t *translation) searches() bool {
	const key = "web_search_options"
	t.original.searches = t.body.Get(key) != nil
	if t.original.searches && len(t.conversation.Tools) > 0 && !t.model.signs() {
		t.body.Fail(translate.NotTaken(key, `this model does not take %q together with "tools"; leave one of them out`, key))
	}
	return t.original.searches
}

// keep keeps what the answer needs of the request.
func (t *translation) keep() {
	o := t.original
	if o.functions { // the caller did not say it: there is one call by their form
		o.leftOut = slices.DeleteFunc(o.leftOut, func(field string) bool { return field == "parallel_tool_calls" })
	}
	o.names = t.conversation.Names()
	if o.hops = int(Requests(t.limit)) - 1; o.hops > 0 {
		o.body = t.out.Bytes()
	}
	if body, sent := t.out.Bytes(), t.signed; len(sent) > 0 {
		o.dummies = func() []byte { return withDummies(body, sent) }
	}
}

// putTier maps service_tier. Other tiers of OpenAI have no counterpart.
func (t *translation) putTier() {
	switch tier := t.body.DecodedText("service_tier"); tier {
	case "", "auto", "default":
	case "flex", "priority":
		t.out.StringMember("serviceTier", tier)
	default:
		t.body.Fail(translate.UnsupportedValue("service_tier", tier))
	}
}
