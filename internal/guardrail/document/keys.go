package document

import "strings"

// plainText returns a key as a string, "" if it has escapes or is not ASCII.
func plainText(key []byte) string {
	for _, c := range key {
		if c == '\\' || c >= 0x80 {
			return ""
		}
	}
	if usual, ok := usualKeys[string(key)]; ok {
		return usual
	}
	return string(key)
}

// usualKeys are keys of the APIs. They are not copied for each body.
var usualKeys = func() map[string]string {
	keys := map[string]string{}
	var add func(*node)
	add = func(n *node) {
		for key, child := range n.next {
			keys[key] = key
			add(child)
		}
	}
	add(exemptInRequests)
	add(exemptInAnswers)
	for _, key := range strings.Fields(`arguments choices completion_tokens content content_index created created_at delta error
		finish_reason function index input item logprobs message messages name output output_index parameters prompt_tokens provider
		reasoning reasoning_content refusal response sequence_number summary_index text tool_calls total_tokens type usage
		additionalProperties anyOf default description enum items maximum minimum properties required strict`) {
		keys[key] = key
	}
	return keys
}()
