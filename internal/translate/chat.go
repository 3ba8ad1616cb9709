package translate

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// OutputLimit returns the limit of the output that a chat request has, as written and as a number:
// max_completion_tokens, or its older name max_tokens. It is nil and 0 if the request has none.
func OutputLimit(body Reader) (value []byte, n int64) {
	value, n = body.Int("max_completion_tokens", 1)
	older, m := body.Int("max_tokens", 1)
	switch {
	case value == nil:
		value, n = older, m
	case older != nil && m != n:
		body.Fail(apierror.New(apierror.InvalidValue, `"max_completion_tokens" and "max_tokens" must be equal if both are given`).
			WithParam("max_tokens"))
	}
	return value, n
}

// Format is the response_format of a chat request.
type Format struct {
	JSON                      bool   // the answer is JSON
	Schema                    []byte // of the answer, an object; nil for any JSON object
	Name, Description, Strict []byte // of the schema as they were written; nil for none
}

// OnlyJSON asks for an answer that is any JSON object, for a provider that has schemas only. It is
// quoted.
const OnlyJSON = `"Answer with a single JSON object and nothing else: no text around it, no Markdown."`

// ReadFormat reads response_format. A json_object with a schema is a json_schema, as OpenRouter has
// it.
func ReadFormat(body Reader) (f Format) {
	o, ok := body.Object("response_format")
	if !ok {
		return f
	}
	switch typ := TypeOf(o); typ {
	case "text":
		o.Only("type")
	case "json_object":
		o.Only("type", "schema")
		f = Format{JSON: true, Name: []byte(`"answer"`)}
		f.readSchema(o)
	case "json_schema":
		o.Only("type", typ)
		o = o.RequiredObject(typ, "name", "description", "schema", "strict")
		f = Format{JSON: true, Name: o.Text("name"), Description: o.Get("description"), Strict: o.Get("strict")}
		if f.readSchema(o); f.Schema == nil {
			o.Fail(Missing(o.Param("schema")))
		}
	default:
		RefuseType(o, typ)
	}
	return f
}

func (f *Format) readSchema(o Reader) {
	if schema, ok := o.Object("schema"); ok {
		f.Schema = Written(schema)
	}
}

// AppendUsage appends the usage of a chat completion; SDKs expect both details with their number.
// The tokens written to a cache, those of sound and the cost are added only if the provider reports
// them.
func AppendUsage(dst []byte, u openai.Usage) []byte {
	dst = AppendIntMember(append(dst, '{'), "prompt_tokens", u.Prompt)
	dst = AppendIntMember(dst, "completion_tokens", u.Completion)
	dst = AppendIntMember(dst, "total_tokens", u.Total)
	dst = append(dst, `,"prompt_tokens_details":{`...)
	dst = AppendIntMember(dst, "cached_tokens", u.Cached)
	if u.CacheWrite > 0 {
		dst = AppendIntMember(dst, "cache_write_tokens", u.CacheWrite)
	}
	if u.CacheWrite > 0 && u.CacheSplit {
		dst = append(dst, `,"cache_creation_token_details":{`...)
		dst = AppendIntMember(dst, "ephemeral_5m_input_tokens", u.CacheWrite-u.CacheWriteHour)
		dst = append(AppendIntMember(dst, "ephemeral_1h_input_tokens", u.CacheWriteHour), '}')
	}
	if u.Units[units.AudioInput] > 0 {
		dst = AppendIntMember(dst, "audio_tokens", u.Units[units.AudioInput])
	}
	dst = append(dst, `},"completion_tokens_details":{`...)
	dst = AppendIntMember(dst, "reasoning_tokens", u.Reasoning)
	if u.Units[units.AudioOutput] > 0 {
		dst = AppendIntMember(dst, "audio_tokens", u.Units[units.AudioOutput])
	}
	dst = append(dst, '}')
	if u.Cost != "" {
		dst = AppendMember(dst, "cost", []byte(u.Cost))
	}
	return append(dst, '}')
}
