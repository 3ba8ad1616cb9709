package realtimetest

import (
	"encoding/json"
	"fmt"

	"github.com/coder/websocket"
)

func (s *session) done(id, status string, details any, output []any, usage any) {
	if output == nil {
		output = []any{}
	}
	s.send("response.done", "response", s.response(id, status, details, output, usage))
}

func (s *session) response(id, status string, details any, output []any, usage any) map[string]any {
	return map[string]any{
		"object": "realtime.response", "id": id, "status": status, "status_details": details, "output": output, "usage": usage,
		"conversation_id": "conv_1", "output_modalities": []string{"text"}, "max_output_tokens": "inf", "metadata": nil,
	}
}

// send sends an event with members. Its type comes first, as OpenAI's events have it.
func (s *session) send(name string, members ...any) {
	s.n++
	b := fmt.Appendf(nil, `{"type":%q,"event_id":"event_%d"`, name, s.n)
	for i := 0; i < len(members); i += 2 {
		value, err := json.Marshal(members[i+1])
		if err != nil {
			panic(err)
		}
		b = fmt.Appendf(b, ",%q:%s", members[i], value)
	}
	_ = s.ws.Write(s.ctx, websocket.MessageText, append(b, '}'))
}
