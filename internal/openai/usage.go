package openai

import (
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
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

	Units         units.Counts // besides tokens of text
	CachedUnits   units.Counts // of Units: read from the prompt cache; only Realtime reports it
	PicturesSplit bool         // the tokens of pictures in the answer were reported, which may be 0

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
	if len(value) == 0 || value[0] != '{' {
		return Usage{}, false
	}
	var r usageReader
	var members [16]jsonscan.Member
	for _, m := range jsonscan.Members(value, members[:0]) {
		r.member(m.Key(value), m.Value(value), m.Kind)
	}
	if !r.hasPrompt || r.absurd {
		return Usage{}, false
	}
	r.usage.addBeside()
	return r.usage, true
}

// usageReader reads the members of a usage object.
type usageReader struct {
	usage     Usage
	hasPrompt bool
	absurd    bool // some count is negative or too large
}

func (r *usageReader) member(key, v []byte, kind byte) {
	u := &r.usage
	switch string(key) {
	case "prompt_tokens", "input_tokens":
		r.count(&u.Prompt, v)
		r.hasPrompt = kind == '0'
	case "completion_tokens", "output_tokens":
		r.count(&u.Completion, v)
	case "total_tokens":
		r.count(&u.Total, v)
	case "prompt_cache_hit_tokens", "cached_tokens", "cache_read_input_tokens": // DeepSeek, Moonshot, LiteLLM
		r.count(&u.Cached, v)
	case "cache_creation_input_tokens": // LiteLLM
		r.count(&u.CacheWrite, v)
	case "reasoning_tokens": // Perplexity
		r.count(&u.Reasoning, v)
	case "prompt_tokens_details", "input_tokens_details", "input_token_details": // the last of transcriptions
		r.details(v, &u.Units[units.AudioInput], &u.Units[units.ImageInput])
	case "completion_tokens_details", "output_tokens_details", "output_token_details":
		u.PicturesSplit = r.details(v, &u.Units[units.AudioOutput], &u.Units[units.ImageOutput])
	case "cost":
		if kind == '0' {
			u.Cost = reportedCost(v)
		}
	}
}

// reportedCost returns a number that can be a cost, "" for another and for none.
func reportedCost(v []byte) string {
	if len(v) == 0 || v[0] == '-' || len(v) > maxCost {
		return ""
	}
	return string(v)
}

// details reads the details of the prompt or of the completion, each of which may have audio and
// pictures. It reports whether it says how many tokens are pictures.
func (r *usageReader) details(object []byte, audio, image *int64) (pictures bool) {
	u := &r.usage
	var members, split [8]jsonscan.Member
	for _, m := range jsonscan.Members(object, members[:0]) {
		switch v := m.Value(object); string(m.Key(object)) {
		case "cached_tokens":
			r.count(&u.Cached, v)
		case "cache_write_tokens":
			r.count(&u.CacheWrite, v)
		case "cache_creation_token_details": // LiteLLM's name
			for _, s := range jsonscan.Members(v, split[:0]) {
				if string(s.Key(v)) == "ephemeral_1h_input_tokens" {
					r.count(&u.CacheWriteHour, s.Value(v))
					u.CacheSplit = true
				}
			}
		case "cached_tokens_details":
			for _, s := range jsonscan.Members(v, split[:0]) {
				switch string(s.Key(v)) {
				case "audio_tokens":
					r.count(&u.CachedUnits[units.AudioInput], s.Value(v))
				case "image_tokens":
					r.count(&u.CachedUnits[units.ImageInput], s.Value(v))
				}
			}
		case "reasoning_tokens":
			r.count(&u.Reasoning, v)
		case "audio_tokens":
			r.count(audio, v)
		case "image_tokens":
			r.count(image, v)
			pictures = true
		}
	}
	return pictures
}

// count reads a count. Of one that the object has under two names the larger counts.
func (r *usageReader) count(into *int64, v []byte) {
	if jsonscan.IsNull(v) {
		return
	}
	n, ok := jsonscan.Int(v)
	if !ok || n < 0 || n > MaxTokens {
		r.absurd = true
		return
	}
	*into = max(*into, n)
}

// addBeside adds what the provider counted beside the prompt or the completion. Tokens that were written
// to the cache may be counted as read, too; they count once, as written.
func (u *Usage) addBeside() {
	u.CacheWrite = max(u.CacheWrite, u.CacheWriteHour)
	cache := u.Cached + u.CacheWrite
	switch {
	case max(u.Cached, u.CacheWrite) > u.Prompt, cache > u.Prompt && u.Total == u.Prompt+cache+u.Completion:
		u.Prompt += cache
	default:
		u.Cached = min(u.Cached, u.Prompt-u.CacheWrite)
	}
	if u.Reasoning > u.Completion || u.Reasoning > 0 && u.Total == u.Prompt+u.Completion+u.Reasoning {
		u.Completion += u.Reasoning
	}
	switch beside := u.Total - u.Prompt - u.Completion; {
	case beside <= 0:
		u.Total = u.Prompt + u.Completion
	case beside == cache:
		u.Prompt += beside
	default: // thoughts, as bridges to other APIs count them
		u.Completion += beside
	}
}

// EventUsage returns the usage in an event: a chat chunk has it at its top level or in a choice, an event
// of a Responses stream in its response. It is for events of which a client gets nothing, and for whole
// answers that are an error.
func EventUsage(data []byte) (Usage, bool) {
	members, err := jsonscan.Lenient(data, nil)
	if err != nil {
		return Usage{}, false
	}
	o := WalkedObject(data, members)
	if response := o.Kind('{', "response", ""); response != nil {
		o = OpenObject(response, members[:0])
	}
	if u, ok := ParseUsage(o.Get("usage")); ok {
		return u, true
	}
	choices := o.Kind('[', "choices", "")
	for e := range jsonscan.AllElements(choices) {
		if u, ok := ParseUsage(OpenObject(e.Value(choices), nil).Get("usage")); ok {
			return u, true
		}
	}
	return Usage{}, false
}

// fault returns the caller's form of the error in an event or a whole answer. It notes the usage beside
// the error: tokens that were used are paid for.
func (s *Summary) fault(call *Call, data []byte) *apierror.Error {
	if u, ok := EventUsage(data); ok {
		s.Usage, s.HasUsage, s.Later = u, true, 0
	}
	return call.Fault(ParseProviderError(data))
}
