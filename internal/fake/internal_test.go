package fake

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

func TestBehaviourNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"echo": true, "a/b/echo:free": true, "ECHO": false, "": false, "err": false, "err-399": false, "err-600": false,
		"err-404": true, "err-404-": false, "err-404-some-code": true, "err-x": false, "step-": false, "step-a-b": true, "stall-1": true,
		"paced-3-0": true, "paced-3": false, "paced-0-1": false, "paced-3-1-1": false, "burst-1": true, "burst-1-1": false,
		"burst-10001": false, "delayed-headers-5": true, "delayed-headers--5": false, "paced": false, "burst": false, "echo-1": false,
	} {
		if _, got := behaviourOf(name); got != ok {
			t.Errorf("%q: %v", name, got)
		}
	}
	b, _ := behaviourOf("x/paced-3-20:free")
	if b.events != 3 || b.pause != 20*time.Millisecond || b.name != "paced-3-20" {
		t.Errorf("%+v", b)
	}
}

func TestObjectKeepsItsOrder(t *testing.T) {
	o := object{{"b", 1}, {"a", object{{"z", "<&>"}}}, {"c", nil}}
	o = o.with("b", 2).with("d", []int{}).without("c", "nothing")
	if got, want := string(encode(o)), `{"b":2,"a":{"z":"<&>"},"d":[]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzPeekModel(f *testing.F) {
	for _, seed := range []string{`{"model":"echo"}`, `{"model" : "a\/b","x":1}`, `{"model":7}`, `{"model":"`, `"model"`, ``} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var all map[string]json.RawMessage
		if json.Unmarshal(body, &all) != nil || len(all) != 1 || bytes.Count(body, modelKey) != 1 {
			peekModel(body) // must not panic
			return
		}
		var want string
		if raw, ok := all["model"]; !ok || json.Unmarshal(raw, &want) != nil || raw[0] != '"' {
			return
		}
		if got := peekModel(body); got != want && got != "" {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	})
}

// FuzzHeadCutter feeds the same bytes whole and cut in two: the heads must be
// the same ones.
func FuzzHeadCutter(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\nContent-Length: 3\r\n\r\n\r\n\rGET /2 HTTP/1.1\r\n\r\n"), 20)
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\n0\r\nt: 1\r\n\r\n\r\nGET /2 HTTP/1.1\n\n"), 50)
	f.Add([]byte("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n"), 3)
	f.Add([]byte("POST / HTTP/1.1\r\nContent-Length: x\r\n\r\nGET / HTTP/1.1\r\n\r\n"), 3)
	f.Fuzz(func(t *testing.T, wire []byte, cut int) {
		var one, two headCutter
		one.feed(wire)
		cut = min(max(cut, 0), len(wire))
		two.feed(wire[:cut])
		two.feed(wire[cut:])
		if !reflect.DeepEqual(one.heads, two.heads) {
			t.Errorf("whole %q, cut at %d %q", one.heads, cut, two.heads)
		}
	})
}

func TestHeadCutterGivesUpOnAHeadWithoutEnd(t *testing.T) {
	var h headCutter
	for range 40 {
		h.feed(bytes.Repeat([]byte("x"), 64<<10))
	}
	if !h.dropped || len(h.line) > maxHead+64<<10 {
		t.Errorf("dropped %v, holds %d bytes", h.dropped, len(h.line))
	}
}

func TestCannedScriptsAreBounded(t *testing.T) {
	k := &cannedStreams{}
	for i := range 2 * maxCanned {
		mode, _ := behaviourOf("burst-1")
		k.script(&call{model: string(rune('a' + i)), mode: mode})
	}
	if len(k.byName) != maxCanned {
		t.Errorf("%d kept", len(k.byName))
	}
}

func TestStoredResponsesAreBounded(t *testing.T) {
	s := newResponseStore()
	for i := range maxStored + 1 {
		s.put(string(rune(i+0x10000)), "")
	}
	if _, first := s.get(string(rune(0x10000))); first || len(s.prompts) != maxStored {
		t.Errorf("%d kept, the first among them %v", len(s.prompts), first)
	}
}
