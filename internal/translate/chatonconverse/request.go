// Package chatonconverse serves a caller of chat completions by a provider that has Amazon
// Bedrock's Converse.
//
//	body, original, err := chatonconverse.Request(chat, options) // of Converse or ConverseStream
//	events := original.Stream(answer, call, nil)                 // a chat stream of its frames
//	chat, err := original.Whole(answer, call, nil)               // one chat completion
//
// Sources: botocore 1.44.5 (bedrock-runtime, service-2), aws-sdk-go-v2, and the pages of Bedrock.
// Nothing here was tried against an account.
package chatonconverse

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
)

// Options is what a translation depends on besides the request.
type Options struct {
	// UpstreamModel is the id of the model whose rules hold, of an inference profile, or an ARN.
	UpstreamModel string

	// Origin names the provider and the model. Only thoughts of this origin return to it.
	Origin string

	// MaxOutput is the limit of the output in tokens that the provider gets, instead of the
	// request's max_completion_tokens and max_tokens. 0 leaves the request's own, if it has one.
	MaxOutput int64
}

// Original is what of a request its answer needs. [Request] makes it.
type Original struct {
	functions     translate.Functions
	hideReasoning bool
	origin        string // of thoughts that return; "" if none do
	names         translate.Names
	leftOut       []string
}

// StreamType is the media type of a streamed answer, which the request must accept.
const StreamType = aws.ContentType

// LeftOut returns the names of the fields that the request is sent without.
func (o *Original) LeftOut() []string { return o.leftOut }

// Refusal returns what the provider refused as OpenAI would have said it.
func (o *Original) Refusal(status int, header http.Header, body []byte) translate.Refusal {
	return aws.Refusal(status, header, body)
}

// translation is one request on its way.
type translation struct {
	opt          Options
	family       family
	body         translate.Reader
	out          translate.Writer // the request so far
	conversation *conversation.Conversation
	limit        int64            // of the output; 0: none
	extra        translate.Writer // additionalModelRequestFields
	sampling     catalog.Sampling
	format       translate.Format
	original     *Original
}

// Request translates a request to one of Converse, which is the same whether or not the answer is
// streamed. The error is a [*apierror.Error] with status 400 that names the field which the provider
// or this model does not take, or whose value is invalid. Neither result refers to r.
func Request(r *conversation.Request, opt Options) (body []byte, original *Original, err error) {
	t := translation{opt: opt, family: familyOf(opt.UpstreamModel), body: r.Settings, original: &Original{functions: r.Functions}}
	t.original.leftOut = fields.Check(t.body, translate.ChatNeutral.Has)
	own := demands
	if t.family.signs {
		t.original.origin, own.Origin = t.opt.Origin, t.opt.Origin
	}
	t.conversation = r.Read(&own)
	t.original.leftOut = append(t.original.leftOut, t.conversation.LeftOut...)
	if !t.family.forced {
		t.conversation.RefuseForced()
	}
	if t.out = translate.WriteTo(r.Room()); r.Err() == nil {
		t.write()
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	return t.out.Bytes(), t.original, nil
}

// write writes the members of the request:
//
//	{"system", "messages", "toolConfig", "inferenceConfig", "outputConfig", "serviceTier", "additionalModelRequestFields"}
func (t *translation) write() {
	if _, t.limit = translate.OutputLimit(t.body); t.opt.MaxOutput > 0 {
		t.limit = t.opt.MaxOutput
	}
	t.sampling = t.family.sampling
	t.extra.Object()
	t.out.Object()
	t.format = translate.ReadFormat(t.body)
	w := blocks{Writer: &t.out, body: t.body, family: &t.family}
	w.putSystem(t.conversation.System, t.format.JSON && t.format.Schema == nil)
	w.putTurns(t.conversation.Turns)
	w.putTools(t.conversation)
	t.readThinking()
	t.putInference()
	t.putFormat()
	t.putTier()
	t.extra.EndOptional()
	t.out.Member("additionalModelRequestFields", t.extra.Bytes())
	t.out.End()
	t.original.names = t.conversation.Names()
}

// putInference writes inferenceConfig, and what models take elsewhere.
func (t *translation) putInference() {
	t.out.Object("inferenceConfig")
	if t.limit > 0 {
		t.out.IntMember("maxTokens", t.limit)
	}
	t.putSampling()
	t.out.Member("stopSequences", translate.ReadStop(t.body, maxStops))
	t.out.EndOptional()
	t.putTopK()
}

// maxStops bounds the stop sequences; Bedrock takes 2,500.
const maxStops = 256

// putFormat writes the schema of the answer, which Converse takes as a text.
func (t *translation) putFormat() {
	if t.format.Schema == nil {
		return
	}
	for _, key := range []string{"outputConfig", "textFormat"} {
		t.out.Object(key)
	}
	t.out.StringMember("type", "json_schema")
	t.out.Object("structure")
	t.out.Object("jsonSchema")
	t.out.StringMember("schema", string(translate.ClosedSchema(t.format.Schema)))
	t.out.Member("name", t.format.Name)
	for range 4 {
		t.out.End()
	}
}

// putTier maps service_tier. Other tiers of OpenAI have no counterpart.
func (t *translation) putTier() {
	switch tier := t.body.DecodedText("service_tier"); tier {
	case "", "auto":
	case "flex", "priority", "default":
		t.out.Object("serviceTier")
		t.out.StringMember("type", tier)
		t.out.End()
	default:
		t.body.Fail(translate.UnsupportedValue("service_tier", tier))
	}
}
