// Package chatonconverse serves a caller of chat completions by a provider that has Amazon Bedrock's
// Converse.
//
//	body, original, err := chatonconverse.Request(chat, options) // of Converse or ConverseStream
//	events := original.Stream(answer, call, nil)                 // a chat stream of its frames
//	chat, err := original.Whole(answer, call, nil)               // one chat completion
//
// Sources: botocore 1.44.5 (bedrock-runtime, service-2), aws-sdk-go-v2, and the pages of Bedrock. Nothing
// here was tried against an account.
package chatonconverse

import (
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/aws"
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
	opt      Options
	family   family
	body     translate.Reader
	out      []byte // the request so far
	turns    turns
	tools    tools
	limit    int64  // of the output; 0: none
	extra    []byte // members of additionalModelRequestFields
	sampling catalog.Sampling
	anyJSON  bool   // the answer must be a JSON object, of no schema
	schema   []byte // of the answer, nil for none
	name     []byte // of the schema, quoted; nil for none
	original *Original
}

// Request translates a chat completion request that params.ParseChat accepted to one of Converse, which
// is the same whether or not the answer is streamed. It reads b as it was parsed, without the edits that
// b has collected. The error is a [*apierror.Error] with status 400 that names the field which the
// provider or this model does not take, or whose value is invalid. Neither result refers to b.
func Request(b *jsonscan.Body, opt Options) (body []byte, original *Original, err error) {
	t := translation{opt: opt, family: familyOf(opt.UpstreamModel), original: &Original{}}
	t.body, t.original.functions = translate.AsTools(translate.Read(b, &err))
	t.out = make([]byte, 0, len(b.Data())+len(b.Data())/8+512)
	if t.write(); err != nil {
		return nil, nil, t.original.functions.Refusal(err)
	}
	return t.out, t.original, nil
}

// write writes the members of the request:
//
//	{"system", "messages", "toolConfig", "inferenceConfig", "outputConfig", "serviceTier", "additionalModelRequestFields"}
func (t *translation) write() {
	t.original.leftOut = fields.Check(t.body, translate.ChatNeutral.Has)
	if _, t.limit = translate.OutputLimit(t.body); t.opt.MaxOutput > 0 {
		t.limit = t.opt.MaxOutput
	}
	t.turns.family, t.sampling = &t.family, t.family.sampling
	if t.family.signs {
		t.original.origin, t.turns.origin = t.opt.Origin, t.opt.Origin
	}
	t.out = append(t.out, '{')
	t.readFormat()
	t.putMessages()
	t.tools.turns = &t.turns
	t.tools.read(t.body)
	t.out = t.tools.append(t.out)
	t.readThinking()
	t.putInference()
	t.putFormat()
	t.putTier()
	if len(t.extra) > 0 {
		t.out = append(append(append(t.out, `,"additionalModelRequestFields":{`...), t.extra...), '}')
	}
	t.out = append(t.out, '}')
	t.original.leftOut = append(t.original.leftOut, t.turns.leftOut...)
}

func (t *translation) putMessages() {
	t.turns.read(t.body)
	if t.anyJSON {
		t.turns.system = append(translate.AppendComma(t.turns.system), `{"text":`+onlyJSON+`}`...)
	}
	t.out = t.turns.append(t.out)
}

// onlyJSON asks for an answer that is any JSON object. Converse has schemas only.
const onlyJSON = `"Answer with a single JSON object and nothing else: no text around it, no Markdown."`

// putInference writes inferenceConfig, and what models take elsewhere.
func (t *translation) putInference() {
	before := len(t.out)
	t.out = append(translate.AppendKey(t.out, "inferenceConfig"), '{')
	empty := len(t.out)
	if t.limit > 0 {
		t.out = translate.AppendIntMember(t.out, "maxTokens", t.limit)
	}
	t.putSampling()
	if stop := translate.ReadStop(t.body, maxStops); stop != nil {
		t.out = translate.AppendMember(t.out, "stopSequences", stop)
	}
	if len(t.out) == empty {
		t.out = t.out[:before]
	} else {
		t.out = append(t.out, '}')
	}
	t.putTopK()
}

// maxStops bounds the stop sequences; Bedrock takes 2,500.
const maxStops = 256

// readFormat reads response_format. What the system says depends on it.
func (t *translation) readFormat() {
	format, ok := t.body.Object("response_format")
	if !ok {
		return
	}
	switch typ := translate.TypeOf(format); typ {
	case "text":
	case "json_object":
		t.anyJSON = true
	case "json_schema":
		o := translate.JSONSchema(format)
		if schema, ok := o.Object("schema"); ok {
			t.schema, t.name = translate.AppendObject(nil, schema), o.Text("name")
		}
	default:
		translate.RefuseType(format, typ)
	}
}

// putFormat writes the schema of the answer, which Converse takes as a text.
func (t *translation) putFormat() {
	if t.schema == nil {
		return
	}
	t.out = append(t.out, `,"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{`...)
	t.out = jsonscan.AppendString(translate.AppendKey(t.out, "schema"), string(t.schema))
	if t.name != nil {
		t.out = translate.AppendMember(t.out, "name", t.name)
	}
	t.out = append(t.out, "}}}}"...)
}

// putTier maps service_tier. Other tiers of OpenAI have no counterpart.
func (t *translation) putTier() {
	switch tier := t.body.DecodedText("service_tier"); tier {
	case "", "auto":
	case "flex", "priority", "default":
		t.out = append(translate.AppendTextMember(append(translate.AppendKey(t.out, "serviceTier"), '{'), "type", []byte(tier)), '}')
	default:
		t.body.Fail(translate.UnsupportedValue("service_tier", tier))
	}
}
