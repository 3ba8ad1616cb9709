package tomessages

import (
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// usage is what the provider counted, in tokens. The counts of a stream are totals: the last ones
// hold, and none becomes less.
type usage struct {
	input              int64 // neither read from the cache nor written to it
	read, write        int64
	writeShort         int64 // of write, kept for minutes
	writeHour          int64
	output, thoughts   int64
	hasInput, hasSplit bool
}

// take takes a usage object of the Messages API. It reports whether that has any count.
func (u *usage) take(object []byte) (found bool) {
	count := func(to *int64, value []byte) bool {
		n, ok := jsonscan.Int(value)
		if !ok || n < 0 || n > openai.MaxTokens {
			return false
		}
		*to, found = max(*to, n), true
		return true
	}
	each(object, func(key, value []byte) {
		switch string(key) {
		case "input_tokens":
			u.hasInput = count(&u.input, value) || u.hasInput
		case "output_tokens":
			count(&u.output, value)
		case "cache_read_input_tokens":
			count(&u.read, value)
		case "cache_creation_input_tokens":
			count(&u.write, value)
		case "cache_creation":
			each(value, func(key, value []byte) {
				switch string(key) {
				case "ephemeral_5m_input_tokens":
					u.hasSplit = count(&u.writeShort, value) || u.hasSplit
				case "ephemeral_1h_input_tokens":
					u.hasSplit = count(&u.writeHour, value) || u.hasSplit
				}
			})
		case "output_tokens_details":
			each(value, func(key, value []byte) {
				if string(key) == "thinking_tokens" {
					count(&u.thoughts, value)
				}
			})
		}
	})
	return found
}

// sum returns the usage as the gateway counts: a prompt includes what of it is in a cache.
func (u *usage) sum() openai.Usage {
	write := max(u.write, u.writeShort+u.writeHour)
	prompt := u.input + u.read + write
	return openai.Usage{
		Prompt: prompt, Completion: u.output, Total: prompt + u.output, Cached: u.read,
		CacheWrite: write, CacheWriteHour: u.writeHour, CacheSplit: u.hasSplit, Reasoning: min(u.thoughts, u.output),
	}
}

// each calls f for each member of an object that is not null.
func each(object []byte, f func(key, value []byte)) {
	var members [16]jsonscan.Member
	for _, m := range jsonscan.Members(object, members[:0]) {
		if m.Kind != 'n' {
			f(m.DecodedKey(object), m.Value(object))
		}
	}
}
