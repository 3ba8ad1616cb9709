package translate

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// OutputLimit returns the limit of the output that a chat request has, as written and as a number:
// max_completion_tokens, or its older name max_tokens. It is nil and 0 if the request has none.
func OutputLimit(body Object) (value []byte, n int64, err error) {
	value, n, err = body.Int("max_completion_tokens", 1)
	if err != nil {
		return nil, 0, err
	}
	older, m, err := body.Int("max_tokens", 1)
	switch {
	case err != nil:
		return nil, 0, err
	case value == nil:
		return older, m, nil
	case older != nil && m != n:
		return nil, 0, apierror.New(apierror.InvalidValue, `"max_completion_tokens" and "max_tokens" must be equal if both are given`).
			WithParam("max_tokens")
	}
	return value, n, nil
}

// AllowedTools opens a tool_choice of the type allowed_tools, and returns its mode as [ToolMode] does.
// The object has the tools.
func AllowedTools(choice Object) (allowed Object, mode []byte, required bool, err error) {
	if err := choice.Only("type", "allowed_tools"); err != nil {
		return allowed, nil, false, err
	}
	if allowed, err = choice.RequiredObject("allowed_tools"); err != nil {
		return allowed, nil, false, err
	}
	if err := allowed.Only("mode", "tools"); err != nil {
		return allowed, nil, false, err
	}
	if mode, required, err = ToolMode(allowed, "mode"); err == nil && allowed.Get("tools") == nil {
		err = Missing(allowed.Param("tools"))
	}
	return allowed, mode, required, err
}

// JSONSchema opens the member json_schema of a response_format of this type.
func JSONSchema(format Object) (schema Object, err error) {
	if err := format.Only("type", "json_schema"); err != nil {
		return schema, err
	}
	if schema, err = format.RequiredObject("json_schema"); err != nil {
		return schema, err
	}
	return schema, schema.Only("name", "description", "schema", "strict")
}

// AppendUsage appends the usage of a chat completion; SDKs expect both details with their number.
// The tokens written to a cache, those of sound and the cost are added only if the provider reports them.
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
