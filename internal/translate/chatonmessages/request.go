// Package chatonmessages serves a caller of chat completions by a provider that only has
// Anthropic's Messages API. The translation makes the chat completion that a provider would send,
// and the family's own result or stream makes its answer from that.
//
//	messages, original, err := chatonmessages.Request(body, stream, options) // for the provider
//	chat, sum, err := chatonmessages.Result(answer, original, call)          // for the family
//	chunks := chatonmessages.NewStream(original, call, family)               // the same, streamed
//
// The same request always becomes the same bytes, and a longer conversation begins with those of
// the shorter one: caches of prompts depend on it.
package chatonmessages

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// Version is the version of the Messages API that the requests are written for. It is the one in
// which models may have sampling parameters.
const Version = "2023-06-01"

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the model as the provider calls it.
	UpstreamModel string

	// Origin names the provider and its model. Thoughts return only to where they are from.
	Origin string

	// Rules are what the model takes. MaxOutput of them is the limit of a request without one.
	Rules catalog.Capabilities

	// MaxOutput is the limit of the output in tokens that the provider gets, instead of the
	// request's max_completion_tokens and max_tokens. 0 leaves the request's own, if it has one.
	MaxOutput int64
}

// defaultOutput is the limit of the output, in tokens, where nobody states one: the API requires
// it.
const defaultOutput = 16_384

// Original is what the answer needs of the caller's request. [Request] makes it; it does not change
// afterwards.
type Original struct {
	origin        string // of its reasoning, as tag returns it
	names         translate.Names
	hideReasoning bool
	cites         bool // the provider may cite sources
	functions     translate.Functions
	leftOut       []string
}

// LeftOut returns the names of the fields that the request is sent without.
func (o *Original) LeftOut() []string { return o.leftOut }

// translation is one request on its way.
type translation struct {
	opt          Options
	body         translate.Reader
	out          translate.Writer // the Messages request so far
	conversation *conversation.Conversation
	thinking     thinking
	limit        int64 // of the output
	format       translate.Format
	original     *Original
}

// Request translates a request to the Messages request for the provider, streamed if the caller asked
// for it. The error is a [*apierror.Error] with status 400 that names the field which a Messages
// request cannot carry, or which this model does not take, or whose value is invalid. Neither result
// refers to r.
func Request(r *conversation.Request, stream bool, opt Options) (messages []byte, original *Original, err error) {
	t := translation{opt: opt, body: r.Settings, original: &Original{origin: tag(opt.Origin), functions: r.Functions}}
	t.original.leftOut = fields.Check(t.body, translate.ChatNeutral.Has)
	own := demands
	own.Origin, own.NoPrefill = t.original.origin, !opt.Rules.Prefill
	t.conversation = r.Read(&own)
	t.original.leftOut = append(t.original.leftOut, t.conversation.LeftOut...)
	if !opt.Rules.ForcedTools {
		t.conversation.RefuseForced()
	}
	if t.out = translate.WriteTo(r.Room()); r.Err() == nil {
		t.write(stream)
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return t.out.Bytes(), t.original, nil
}

// write writes the members of the request.
func (t *translation) write(stream bool) {
	t.out.Object()
	t.out.StringMember("model", t.opt.UpstreamModel)
	t.format = translate.ReadFormat(t.body)
	t.putLimit()
	w := blocks{&t.out, t.body}
	w.putSystem(t.conversation.System, t.format.JSON && t.format.Schema == nil)
	w.putTurns(t.conversation.Turns)
	t.readThinking()
	t.putThinking()
	t.putSampling()
	t.putStop()
	t.putUser()
	t.putTier()
	t.original.cites = putTools(&t.out, t.conversation, t.singleCall())
	fields.PutKept(&t.out, t.body)
	if stream {
		t.out.BoolMember("stream", true)
	}
	t.out.End()
	t.original.names = t.conversation.Names()
}

// putLimit maps max_completion_tokens and its older name max_tokens, unless the options replace
// both. The API requires a limit: that of the model is as good as none.
func (t *translation) putLimit() {
	_, n := translate.OutputLimit(t.body)
	switch {
	case t.opt.MaxOutput > 0:
		n = t.opt.MaxOutput
	case n > 0:
	default:
		n = OutputLimit(t.opt.Rules)
	}
	t.limit = n
	t.out.IntMember("max_tokens", n)
}

// putStop maps stop: a text, or several, none of which is blank.
func (t *translation) putStop() {
	stop := translate.ReadStop(t.body, maxStops)
	for i, span := range jsonscan.Elements(stop, nil) {
		if text, _ := jsonscan.String(span.Value(stop)); strings.TrimSpace(text) == "" {
			param := "stop"
			if value := t.body.Get("stop"); value[0] == '[' {
				param = translate.At(param, i)
			}
			t.body.Fail(translate.Invalid(param, "a text that is not blank"))
		}
	}
	t.out.Member("stop_sequences", stop)
}

// maxStops bounds the stop sequences, far above what providers take.
const maxStops = 256

// putUser maps safety_identifier, or user, whose successor it is.
func (t *translation) putUser() {
	id, newer := t.body.Text("user"), t.body.Text("safety_identifier")
	if newer != nil {
		id = newer
	}
	if id != nil {
		t.out.Object("metadata")
		t.out.Member("user_id", id)
		t.out.End()
	}
}

// putTier maps service_tier. Other tiers of OpenAI have no counterpart.
func (t *translation) putTier() {
	switch tier := t.body.DecodedText("service_tier"); tier {
	case "":
	case "auto":
		t.out.StringMember("service_tier", "auto")
	case "default":
		t.out.StringMember("service_tier", "standard_only")
	default:
		t.body.Fail(translate.UnsupportedValue("service_tier", tier))
	}
}

// singleCall reports whether the caller wants one call at a time.
func (t *translation) singleCall() bool {
	return !t.body.Bool("parallel_tool_calls") && t.body.Get("parallel_tool_calls") != nil
}

// CountRequest returns the request of count_tokens for one of the Messages API, whose other fields
// it refuses.
func CountRequest(body []byte) []byte {
	return append(translate.AppendPicked([]byte{'{'}, body, "model", "system", "messages", "tools", "tool_choice", "thinking", "output_config"), '}')
}

// tag returns the id of reasoning that is from a provider and its model. It does not show them.
func tag(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return "ant_" + hex.EncodeToString(sum[:8])
}
