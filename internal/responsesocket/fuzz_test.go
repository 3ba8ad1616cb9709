package responsesocket

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// Whatever a client says, what is sent on is JSON, asks for a stream, and has the conversation in
// front of its input.
func FuzzAFrameIsAPost(f *testing.F) {
	for _, text := range []string{
		`{"type":"response.create","input":"x"}`, `{"type":"response.create","input":[ ],"previous_response_id":"resp_1"}`,
		`{"type":"response.create","previous_response_id":"resp_1"}`, `{"type":"response.create","input":[{"a":1}],"previous_response_id":"resp_1","store":false}`,
		`{"type":"response.create","generate":false,"stream":null,"input":7}`, `{"type":"response.steer"}`, `{}`, ` [`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var one frame
		name, err := one.parse([]byte(text))
		defer one.body.Release()
		if err != nil || name != typeCreate {
			return
		}
		s := &connection{o: Options{MaxBody: 1 << 20}, state: state{all: &states{most: 1 << 20}}}
		s.state.add([]byte(`{"said":1}`), 1<<20)
		s.state.id = "resp_1"
		if s.goOn(&one) != nil {
			return
		}
		var sent map[string]any
		if err := json.Unmarshal(one.body.Append(nil), &sent); err != nil || sent["stream"] != true || sent["type"] != nil || sent["generate"] != nil {
			t.Fatalf("%q: %v, %v", text, sent, err)
		}
		if one.ask.previous == "resp_1" && sent["previous_response_id"] == nil {
			if input, _ := sent["input"].([]any); len(input) == 0 || input[0].(map[string]any)["said"] == nil {
				t.Fatalf("%q: %v", text, sent)
			}
		}
		if kept := s.state.json; kept != nil && !json.Valid(kept) {
			t.Fatalf("%q keeps %s", text, kept)
		}
	})
}

// Each event of a stream is one frame that has its data.
func FuzzEachEventIsAFrame(f *testing.F) {
	f.Add("response.output_item.done", `{"type":"response.output_item.done","item":{"a":1}}`)
	f.Add("response.completed", `{"response":{"id":"resp_1"}}`)
	f.Add("error", `{"error":{"code":"upstream_error"}}`)
	f.Add("", `[]`)
	f.Fuzz(func(t *testing.T, name, data string) {
		if strings.ContainsAny(name+data, "\r\n") || !json.Valid([]byte(data)) {
			return
		}
		var frames []string
		a := &answer{header: http.Header{}, keep: func(item []byte) {
			if !json.Valid(item) {
				t.Errorf("it keeps %s", item)
			}
		}, send: func(all ...[]byte) error {
			for _, one := range all {
				frames = append(frames, string(one))
			}
			return nil
		}}
		text := event(name, data) + ": comment\n\n" + event("x", "{}")
		if n, err := a.Write([]byte(text)); n != len(text) || err != nil {
			t.Fatal(n, err)
		}
		if len(frames) != 3 || frames[1] != string(keepalive) || frames[2] != "{}" || name != "error" && frames[0] != data {
			t.Fatalf("%q", frames)
		}
		if !json.Valid([]byte(frames[0])) {
			t.Fatalf("%q", frames)
		}
	})
}
