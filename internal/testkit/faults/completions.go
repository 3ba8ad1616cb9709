package faults

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/answers"
)

// completionsBody reads the body of a call of POST /completions. It is answered as a chat with the last
// prompt, which has n choices for each prompt.
func completionsBody(_ *http.Request, body []byte) (*answers.Request, func(*call) script, error) {
	var chat map[string]any
	if err := json.Unmarshal(body, &chat); err != nil || chat["prompt"] == nil || chat["messages"] != nil {
		return nil, nil, fmt.Errorf("want prompt and no messages: %w", err)
	}
	choices, last := 1, chat["prompt"]
	if list, ok := last.([]any); ok {
		choices, last = len(list), list[len(list)-1]
	}
	if n, ok := chat["n"].(float64); ok {
		choices *= int(n)
	}
	delete(chat, "n")
	chat["messages"] = []any{map[string]any{"role": "user", "content": fmt.Sprint(last)}}
	delete(chat, "prompt")
	delete(chat, "best_of")
	translated, err := json.Marshal(chat)
	if err != nil {
		return nil, nil, err
	}
	r, err := answers.ParseRequest(translated)
	return r, func(c *call) script {
		s := chatScript(c)
		for i := range s.steps {
			s.steps[i].data = asCompletion(s.steps[i].data, choices)
		}
		if s.length > 0 {
			s.length = len(s.steps[0].data)
		}
		return s
	}, err
}

// asCompletion makes text completions of chat completions, whole or as an event, with so many equal
// choices. All else stays.
func asCompletion(data []byte, n int) []byte {
	object, isEvent := bytes.CutPrefix(data, []byte("data: "))
	var chat map[string]any
	choices, ok := []any(nil), json.Unmarshal(object, &chat) == nil
	if ok {
		choices, ok = chat["choices"].([]any)
	}
	if !ok {
		return data
	}
	chat["object"] = "text_completion"
	for _, element := range choices {
		choice := element.(map[string]any)
		for _, name := range []string{"message", "delta"} {
			if message, ok := choice[name].(map[string]any); ok {
				text, _ := message["content"].(string)
				choice["text"] = text
				delete(choice, name)
			}
		}
		for i := 1; i < n; i++ {
			another := maps.Clone(choice)
			another["index"] = i
			chat["choices"] = append(chat["choices"].([]any), another)
		}
	}
	out := answers.Encode(chat)
	if isEvent {
		return append(append([]byte("data: "), out...), "\n\n"...)
	}
	return out
}
