package anthropic

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// Usage is the usage of a message, as its events report it. The zero value is none.
type Usage struct {
	input, cacheRead, cacheWrite, hourWrite int64 // input is without the cached tokens
	output, thinking                        int64
	known                                   bool // the length of the prompt was reported
	split                                   bool // hourWrite was reported
}

// Read takes a usage object: of a whole message, or of message_start and then of message_delta. In a
// stream counts are cumulative, so a later one replaces an earlier one and is not added. Negative and
// absurd counts are ignored, and so is a zero that follows another count: some servers repeat all
// members and fill in only what is new.
func (u *Usage) Read(value []byte) {
	if len(value) == 0 || value[0] != '{' {
		return
	}
	for m := range jsonscan.AllMembers(value) {
		v := m.Value(value)
		switch string(m.DecodedKey(value)) {
		case "input_tokens":
			u.known = replace(&u.input, v) || u.known
		case "output_tokens":
			replace(&u.output, v)
		case "cache_read_input_tokens":
			replace(&u.cacheRead, v)
		case "cache_creation_input_tokens":
			replace(&u.cacheWrite, v)
		case "cache_creation":
			u.split = member(v, "ephemeral_1h_input_tokens", &u.hourWrite) || u.split
		case "output_tokens_details":
			member(v, "thinking_tokens", &u.thinking)
		}
	}
}

// member replaces a count by the member of an object, and reports whether that is a count.
func member(object []byte, key string, count *int64) bool {
	return replace(count, openai.OpenObject(object, nil).Get(key))
}

// replace reports whether the value is a count.
func replace(count *int64, value []byte) bool {
	n, ok := jsonscan.Int(value)
	if !ok || n < 0 || n > openai.MaxTokens {
		return false
	}
	if n > 0 {
		*count = n
	}
	return true
}

// OpenAI returns the usage as OpenAI counts: cached and cache-written tokens are part of the prompt.
// Ok is false if the length of the prompt was not reported.
func (u *Usage) OpenAI() (usage openai.Usage, ok bool) {
	prompt := u.input + u.cacheRead + u.cacheWrite
	return openai.Usage{
		Prompt: prompt, Completion: u.output, Total: prompt + u.output,
		Cached: u.cacheRead, CacheWrite: u.cacheWrite, CacheWriteHour: min(u.hourWrite, u.cacheWrite), CacheSplit: u.split,
		Reasoning: min(u.thinking, u.output),
	}, u.known
}
