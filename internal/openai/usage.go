package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// MaxTokens is above anything one call can use. A larger count is nonsense and would become a bill.
const MaxTokens = 1 << 36

// maxCost bounds the text of a reported cost; a float64 needs 24 bytes.
const maxCost = 32

// Usage is what an answer used, in tokens, whichever API reported it.
type Usage struct {
	Prompt     int64 // cached and cache-written tokens included
	Completion int64 // reasoning tokens included
	Total      int64
	Cached     int64 // read from the provider's prompt cache
	CacheWrite int64 // written to it
	Reasoning  int64

	CacheWriteHour int64 // of CacheWrite: kept for an hour, which is dearer
	CacheSplit     bool  // CacheWriteHour was reported; only Anthropic does

	AudioInput  int64 // of Prompt
	AudioOutput int64 // of Completion

	// Cost is in USD, the number as the provider wrote it; "" if it did not.
	Cost string
}

// ParseUsage reads the usage object of a chat completion (prompt_tokens, …) or of a Response
// (input_tokens, …). It returns false without the length of the prompt, and for negative or absurd
// counts.
//
// Some providers count cached tokens beside the prompt, or reasoning beside the completion, instead
// of inside, or count some only in the total. They are added if the numbers can mean nothing else.
func ParseUsage(value []byte) (Usage, bool) {
	var u Usage
	if len(value) == 0 || value[0] != '{' {
		return u, false
	}
	var first [16]jsonscan.Member
	var inner, split [8]jsonscan.Member
	hasPrompt, sane := false, true
	count := func(into *int64, v []byte) {
		if jsonscan.IsNull(v) {
			return
		}
		n, ok := jsonscan.Int(v)
		if !ok || n < 0 || n > MaxTokens {
			sane = false
			return
		}
		*into = n
	}
	for _, m := range jsonscan.Members(value, first[:0]) {
		v := m.Value(value)
		switch string(m.Key(value)) {
		case "prompt_tokens", "input_tokens":
			count(&u.Prompt, v)
			hasPrompt = m.Kind == '0'
		case "completion_tokens", "output_tokens":
			count(&u.Completion, v)
		case "total_tokens":
			count(&u.Total, v)
		case "prompt_cache_hit_tokens": // DeepSeek
			count(&u.Cached, v)
		case "prompt_tokens_details", "input_tokens_details",
			"completion_tokens_details", "output_tokens_details":
			if m.Kind == '{' {
				audio := &u.AudioInput
				if k := m.Key(value); k[0] == 'c' || k[0] == 'o' {
					audio = &u.AudioOutput
				}
				for _, d := range jsonscan.Members(v, inner[:0]) {
					switch string(d.Key(v)) {
					case "cached_tokens":
						count(&u.Cached, d.Value(v))
					case "cache_write_tokens":
						count(&u.CacheWrite, d.Value(v))
					case "cache_creation_token_details": // LiteLLM's name
						inside := d.Value(v)
						for _, s := range jsonscan.Members(inside, split[:0]) {
							if string(s.Key(inside)) == "ephemeral_1h_input_tokens" {
								count(&u.CacheWriteHour, s.Value(inside))
								u.CacheSplit = true
							}
						}
					case "reasoning_tokens":
						count(&u.Reasoning, d.Value(v))
					case "audio_tokens":
						count(audio, d.Value(v))
					}
				}
			}
		case "cost":
			if m.Kind == '0' && v[0] != '-' && len(v) <= maxCost {
				u.Cost = string(v)
			}
		}
	}
	if !hasPrompt || !sane {
		return Usage{}, false
	}
	u.CacheWrite = max(u.CacheWrite, u.CacheWriteHour)
	if u.Cached+u.CacheWrite > u.Prompt {
		u.Prompt += u.Cached + u.CacheWrite
	}
	if u.Reasoning > u.Completion || u.Reasoning > 0 && u.Total == u.Prompt+u.Completion+u.Reasoning {
		u.Completion += u.Reasoning
	}
	switch beside := u.Total - u.Prompt - u.Completion; {
	case beside <= 0:
		u.Total = u.Prompt + u.Completion
	case beside == u.Cached+u.CacheWrite:
		u.Prompt += beside
	default: // thoughts, as bridges to other APIs count them
		u.Completion += beside
	}
	return u, true
}

// EventUsage returns the usage in an event: a chat chunk has it at its top level, an event of a
// Responses stream in its response. It is for events that no [Stream] gets.
func EventUsage(data []byte) (Usage, bool) {
	members, err := jsonscan.Lenient(data, nil)
	if err != nil {
		return Usage{}, false
	}
	if i, ok := jsonscan.Find(data, members, "response"); ok && members[i].Kind == '{' {
		data = members[i].Value(data)
		members = jsonscan.Members(data, members[:0])
	}
	i, ok := jsonscan.Find(data, members, "usage")
	if !ok {
		return Usage{}, false
	}
	return ParseUsage(members[i].Value(data))
}
