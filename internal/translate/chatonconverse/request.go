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
	body     translate.Object
	out      []byte // the request so far
	turns    turns
	tools    tools
	limit    int64  // of the output; 0: none
	extra    []byte // members of additionalModelRequestFields
	sampling catalog.Sampling
	anyJSON  bool // the answer must be a JSON object, of no schema
	original Original
}

// Request translates a chat completion request that params.ParseChat accepted to one of Converse, which
// is the same whether or not the answer is streamed. It reads b as it was parsed, without the edits that
// b has collected. The error is a [*apierror.Error] with status 400 that names the field which the
// provider or this model does not take, or whose value is invalid. Neither result refers to b.
func Request(b *jsonscan.Body, opt Options) (body []byte, original *Original, err error) {
	t := translation{opt: opt, family: familyOf(opt.UpstreamModel)}
	if t.body, t.original.functions, err = translate.AsTools(translate.Body(b)); err != nil {
		return nil, nil, err
	}
	t.out = make([]byte, 0, len(b.Data())+len(b.Data())/8+512)
	if err := t.write(); err != nil {
		return nil, nil, t.original.functions.Refusal(err)
	}
	return t.out, &t.original, nil
}

// write writes the members of the request:
//
//	{"system", "messages", "toolConfig", "inferenceConfig", "outputConfig", "serviceTier", "additionalModelRequestFields"}
func (t *translation) write() (err error) {
	if t.original.leftOut, err = fields.Check(t.body, translate.ChatNeutral.Has); err != nil {
		return err
	}
	if _, t.limit, err = translate.OutputLimit(t.body); err != nil {
		return err
	}
	if t.opt.MaxOutput > 0 {
		t.limit = t.opt.MaxOutput
	}
	t.turns.family, t.sampling = &t.family, t.family.sampling
	if t.family.signs {
		t.original.origin, t.turns.origin = t.opt.Origin, t.opt.Origin
	}
	t.out = append(t.out, '{')
	for _, step := range []func() error{
		t.readFormat, t.putMessages, t.putTools, t.readThinking, t.putInference, t.putFormat, t.putTier,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	if len(t.extra) > 0 {
		t.out = append(append(append(t.out, `,"additionalModelRequestFields":{`...), t.extra...), '}')
	}
	t.out = append(t.out, '}')
	t.original.leftOut = append(t.original.leftOut, t.turns.leftOut...)
	return nil
}

func (t *translation) putMessages() error {
	if err := t.turns.read(t.body); err != nil {
		return err
	}
	if t.anyJSON {
		t.turns.system = append(translate.AppendComma(t.turns.system), `{"text":`+onlyJSON+`}`...)
	}
	t.out = t.turns.append(t.out)
	return nil
}

// onlyJSON asks for an answer that is any JSON object. Converse has schemas only.
const onlyJSON = `"Answer with a single JSON object and nothing else: no text around it, no Markdown."`

// putInference writes inferenceConfig, and what models take elsewhere.
func (t *translation) putInference() error {
	before := len(t.out)
	t.out = append(translate.AppendKey(t.out, "inferenceConfig"), '{')
	empty := len(t.out)
	if t.limit > 0 {
		t.out = translate.AppendIntMember(t.out, "maxTokens", t.limit)
	}
	if err := t.putSampling(); err != nil {
		return err
	}
	if err := t.putStop(); err != nil {
		return err
	}
	if len(t.out) == empty {
		t.out = t.out[:before]
	} else {
		t.out = append(t.out, '}')
	}
	return t.putTopK()
}

// maxStops bounds the stop sequences; Bedrock takes 2,500.
const maxStops = 256

// putStop maps stop.
func (t *translation) putStop() error {
	list, err := translate.ReadStop(t.body, maxStops)
	if list != nil {
		t.out = translate.AppendMember(t.out, "stopSequences", list)
	}
	return err
}

func (t *translation) putTools() error {
	t.tools.turns = &t.turns
	if err := t.tools.read(t.body); err != nil {
		return err
	}
	t.out = t.tools.append(t.out)
	return nil
}

// readFormat reads response_format, as far as the system's texts depend on it.
func (t *translation) readFormat() error {
	format, ok, err := t.body.Object("response_format")
	if err != nil || !ok {
		return err
	}
	typ, err := format.Type()
	switch {
	case err != nil:
		return err
	case typ == "json_object":
		t.anyJSON = true
	case typ != "text" && typ != "json_schema":
		return translate.UnsupportedType(format, typ)
	}
	return nil
}

// putFormat maps a response_format with a schema, which Converse takes as a text.
func (t *translation) putFormat() error {
	format, ok, err := t.body.Object("response_format")
	if err != nil || !ok || string(format.Get("type")) != `"json_schema"` {
		return err
	}
	o, err := translate.JSONSchema(format)
	if err != nil {
		return err
	}
	schema, ok, err := o.Object("schema")
	if err != nil || !ok {
		return err
	}
	name, err := o.Text("name")
	if err != nil {
		return err
	}
	t.out = append(t.out, `,"outputConfig":{"textFormat":{"type":"json_schema","structure":{"jsonSchema":{`...)
	t.out = append(translate.AppendKey(t.out, "schema"), jsonscan.AppendString(nil, string(translate.AppendObject(nil, schema)))...)
	if name != nil {
		t.out = translate.AppendMember(t.out, "name", name)
	}
	t.out = append(t.out, "}}}}"...)
	return nil
}

// putTier maps service_tier. Other tiers of OpenAI have no counterpart.
func (t *translation) putTier() error {
	switch tier, err := t.body.DecodedText("service_tier"); {
	case err != nil:
		return err
	case tier == "flex" || tier == "priority" || tier == "default":
		t.out = append(translate.AppendTextMember(append(translate.AppendKey(t.out, "serviceTier"), '{'), "type", []byte(tier)), '}')
	case tier != "" && tier != "auto":
		return translate.UnsupportedValue("service_tier", tier)
	}
	return nil
}
