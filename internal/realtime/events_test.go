package realtime

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// seeds are events of clients, and whether they are a piece of sound that passes unread.
var seeds = map[string]bool{
	`{"type":"input_audio_buffer.append","audio":"UklGRg+/AA=="}`:                    true,
	`{"type":"input_audio_buffer.append","event_id":"event_1","audio":""}`:           true,
	`{"type":"input_audio_buffer.append","audio":"AA","audio":"BB"}`:                 false,
	`{"type":"input_audio_buffer.append","audio":"AA"} `:                             false,
	`{"type":"input_audio_buffer.append", "audio":"AA"}`:                             false,
	`{"type":"input_audio_buffer.append","audio":"A\"A"}`:                            false,
	`{"type":"input_audio_buffer.append","audio":"AA","type":"response.create"}`:     false,
	`{"type":"input_audio_buffer.append","event_id":"a\"b","audio":"AA"}`:            false,
	`{"type":"input_audio_buffer.append","event_id":"a","event_id":"b","audio":"A"}`: false,
	`{"audio":"AA","type":"input_audio_buffer.append"}`:                              false,
	`{"type":"input_audio_buffer.append","audio":"AA`:                                false,
	`{"type":"input_audio_buffer.append"}`:                                           false,
	`{"type":"input_audio_buffer.appendix","audio":"AA"}`:                            false,
	``: false,
}

func TestOnlyExactSoundPassesUnread(t *testing.T) {
	for event, want := range seeds {
		if got := isSound([]byte(event)); got != want {
			t.Errorf("%s: %v", event, got)
		}
	}
}

// What passes unread means the same to every reader: it is an event of sound, and nothing else.
func FuzzSoundThatPassesUnread(f *testing.F) {
	for event := range seeds {
		f.Add([]byte(event))
	}
	f.Fuzz(func(t *testing.T, event []byte) {
		if !isSound(event) {
			return
		}
		members, err := jsonscan.StrictAll(event, nil)
		if err != nil || len(members) > 3 || text(event, "type") != "input_audio_buffer.append" || get(event, "audio") == nil {
			t.Errorf("%s: %v", event, err)
		}
	})
}

func TestEditChangesOneValue(t *testing.T) {
	const event = `{"a":{"b":{"c":1,"d":2}},"e":3}`
	for _, tc := range []struct {
		path   []string
		change func([]byte) []byte
		want   string
	}{
		{[]string{"a", "b", "c"}, to("x"), `{"a":{"b":{"c":"x","d":2}},"e":3}`},
		{[]string{"a", "b", "c"}, drop, `{"a":{"b":{"d":2}},"e":3}`},
		{[]string{"a", "b"}, drop, `{"a":{},"e":3}`},
		{[]string{"a", "x", "c"}, to("x"), event},
		{[]string{"e", "x"}, to("x"), event},
	} {
		if got := string(edit([]byte(event), tc.path, tc.change)); got != tc.want {
			t.Errorf("%v: %s, want %s", tc.path, got, tc.want)
		}
	}
}
