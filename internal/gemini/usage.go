package gemini

import (
	"slices"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/units"
)

// ParseUsage reads usageMetadata. Thoughts are counted beside the candidates, by some models within them:
// the total tells. It is false without the length of the prompt, and for absurd counts.
func ParseUsage(object []byte) (u openai.Usage, ok bool) {
	var prompt, tools, candidates, total int64
	for m := range jsonscan.AllMembers(object) {
		value := m.Value(object)
		switch string(m.DecodedKey(object)) {
		case "promptTokenCount":
			n, isCount := jsonscan.Int(value)
			prompt, ok = n, isCount && n >= 0
		case "toolUsePromptTokenCount":
			tools = count(value)
		case "candidatesTokenCount":
			candidates = count(value)
		case "thoughtsTokenCount":
			u.Reasoning = count(value)
		case "cachedContentTokenCount":
			u.Cached = count(value)
		case "totalTokenCount":
			total = count(value)
		case "promptTokensDetails":
			u.Units[units.AudioInput] = audioTokens(value)
		case "candidatesTokensDetails":
			u.Units[units.AudioOutput] = audioTokens(value)
		}
	}
	if max(prompt, tools, candidates, u.Reasoning, total, u.Cached, slices.Max(u.Units[:])) > openai.MaxTokens {
		return openai.Usage{}, false
	}
	u.Prompt, u.Completion = prompt+tools, candidates+u.Reasoning
	if total > 0 {
		u.Completion = max(candidates, u.Reasoning, total-u.Prompt)
	}
	u.Total = u.Prompt + u.Completion
	return u, ok
}

// EventUsage reads the usage in an event of a stream. It is false if the event has none.
func EventUsage(data []byte) (openai.Usage, bool) {
	members, err := jsonscan.Lenient(data, nil)
	if err != nil {
		return openai.Usage{}, false
	}
	i, ok := jsonscan.Find(data, members, "usageMetadata")
	if !ok {
		return openai.Usage{}, false
	}
	return ParseUsage(members[i].Value(data))
}

// audioTokens returns how many tokens of a list of modalities are of sound.
func audioTokens(list []byte) (n int64) {
	for e := range jsonscan.AllElements(list) {
		object, sound, tokens := e.Value(list), false, int64(0)
		for m := range jsonscan.AllMembers(object) {
			switch string(m.DecodedKey(object)) {
			case "modality":
				sound = string(m.Value(object)) == `"AUDIO"`
			case "tokenCount":
				tokens = count(m.Value(object))
			}
		}
		if sound {
			n = tokens
		}
	}
	return n
}

// count reads a whole number of at least 0, 0 for anything else.
func count(value []byte) int64 {
	n, _ := jsonscan.Int(value)
	return max(n, 0)
}
