package openai_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// twin is a stream whose events may repeat others, and a stream whose events never do.
type twin struct {
	events      openai.Events
	short, long *openai.ChatStream
}

// twins are streams of every kind: each asks for other repairs.
func twins() map[string]*twin {
	asked := newCall()
	asked.IncludeUsage = true
	told := newCall()
	told.OnID = func(openai.Kind, string) {}
	second := openai.Shape{
		Native: true, Reasoning: true, FixedID: "gen-1", Provider: "fake",
		Usage: func(dst, usage []byte, _ openai.Usage) []byte { return append(dst, usage...) },
	}
	second.NotNull[openai.AtTop] = []string{"system_fingerprint"}
	second.NotNull[openai.AtMessage] = []string{"tool_calls", "audio"}
	second.NotNull[openai.AtCall] = []string{"id", "type", "function"}
	second.NotNull[openai.AtFunction] = []string{"name", "arguments"}
	all := map[string]*twin{}
	for name, c := range map[string]struct {
		call  openai.Call
		shape openai.Shape
	}{"plain": {newCall(), openai.Shape{}}, "usage": {asked, openai.Shape{}}, "told": {told, openai.Shape{}}, "second": {newCall(), second}} {
		all[name] = &twin{short: openai.NewShapedStream(c.call, c.shape), long: openai.NewShapedStream(c.call, c.shape)}
	}
	return all
}

// data feeds both and reports whether the event was sent as one that repeats the one before.
func (w *twin) data(t testing.TB, name string, chunk []byte) bool {
	t.Helper()
	event := w.events.Next([]byte(name), chunk)
	short := w.short.WouldRepeat(event)
	got, want := w.short.Data([]byte("x"), event), w.long.Data([]byte("x"), openai.NewEvent([]byte(name), chunk))
	if string(got) != string(want) {
		t.Fatalf("%q:\n got  %q\n want %q", chunk, got, want)
	}
	g, l := w.short.Summary(), w.long.Summary()
	if (g.Err == nil) != (l.Err == nil) {
		t.Fatalf("%q: failure %v, want %v", chunk, g.Err, l.Err)
	}
	if g.Err, l.Err = nil, nil; g != l {
		t.Fatalf("%q:\n got  %+v\n want %+v", chunk, g, l)
	}
	return short
}

func (w *twin) close(t testing.TB) {
	t.Helper()
	for _, failure := range []*apierror.Error{nil, apierror.New(apierror.UpstreamError, "cut")} {
		got, gotErr := w.short.Close(nil, failure)
		want, wantErr := w.long.Close(nil, failure)
		if string(got) != string(want) || (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("end:\n got  %q %v\n want %q %v", got, gotErr, want, wantErr)
		}
	}
}

// shapes are chunks in the ways of several providers. TEXT and 1700000000
// stand for what differs from one to the next.
var shapes = []string{
	strings.Replace(typical, " word", "TEXT", 1),
	typical[:len(typical)-1] + `,"usage":null,"obfuscation":"TEXT"}`,
	`{"choices":[{"delta":{"content":"TEXT"},"index":0}],"created":1700000000,"id":"c2","usage":` + usage + `}`,
	`{"choices":[{"delta":{"content":"TEXT"},"index":0}],"created":1700000000,"id":"c2","usage":{"prompt_tokens":9,"completion_tokens":1}}`,
	`{"created":1700000000,"choices":[{"delta":{"content":"","reasoning_content":"TEXT"},"index":0}]}`,
	`{"created":1700000000,"choices":[{"delta":{"reasoning":null,"reasoning_content":"TEXT","content":"TEXT!","refusal":"TEXT"},"index":0}]}`,
	`{"created":1700000000,"choices":[{"delta":{"content":null,"reasoning":"TEXT","tool_calls":null},"index":1,"finish_reason":"eos"}]}`,
	`{"created":1700000000.0,"choices":[{"delta":{"role":"assistant","content":"TEXT","content":"TEXT"}}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"TEXT"}}]}}]}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":4,"function":{"arguments":"TEXT"}}]},"finish_reason":null}],"system_fingerprint":null}`,
	`{"choices":[{"index":0,"delta":{"tool_calls":[{"type":"","function":{"arguments":"TEXT"}},{"function":{"arguments":"TEXT"}}]}}]}`,
	`{"choices":[{"delta":{"reasoning_content":"TEXT","reasoning":null,"reasoning":null},"index":0}]}`,
	`{"choices":[{"index":0,"delta":{"content":"TEXT"}},{"index":1,"delta":{"content":"x"}}]}`,
	`{"choices":[{"index":0,"delta":{"content":"TEXT","audio":{"id":"audio_1"}}}],"error":null}`,
	"{\n\"choices\" : [ {\"delta\" : {\"content\":\n\"TEXT\" } } ] , \"created\":\r\n1700000000}",
	`{"choices":[{"delta":{"content":"TEXT"}},{"delta":{"content":"TEXT"}}]}`,
	`{"choices":[],"usage":` + usage + `}`,
	`{"error":{"message":"TEXT"}}`,
}

var texts = []string{`TEXT`, ``, `\"`, `é\u00e9\ud83d`, `a\\`, `"`, `"},"x":{"y":"`, "\xff", "\n", strings.Repeat("long ", 600)}

var times = []string{"1700000000", "1700000001", "0", "01", "-1", "1e9", "1700000000000", "17.5", `"1"`, ""}

func variant(shape string, i int) []byte {
	s := strings.ReplaceAll(shape, "TEXT", texts[i%len(texts)])
	return []byte(strings.ReplaceAll(s, "1700000000", times[i/len(texts)%len(times)]))
}

func TestTheShortWayGivesTheSame(t *testing.T) {
	for i, a := range shapes {
		for j := range shapes {
			for _, w := range twins() {
				for n, k := range []int{i, i, i, j, j, i, i, j, i, i} {
					w.data(t, "", variant(shapes[k], (n+2)/2%3))
				}
				w.close(t)
			}
		}
		for name := range twins() {
			for v := range len(texts) * len(times) {
				if v >= len(texts) && v%len(texts) != 0 {
					continue // one thing at a time
				}
				w := twins()[name]
				w.data(t, "", variant(a, 0))
				w.data(t, "", variant(a, 0))
				w.data(t, "", variant(a, v))
				w.data(t, "", variant(a, 0))
				w.data(t, []string{"", "message", "error"}[v%3], variant(a, 0))
				w.close(t)
			}
		}
	}
}

func TestWhichChunksGoTheShortWay(t *testing.T) {
	for name, w := range twins() {
		for i, shape := range shapes[:9] {
			w.data(t, "", variant(shape, 0))
			w.data(t, "", variant(shape, 0))
			w.data(t, "", variant(shape, 0))
			other := variant(shape, len(texts)+3) // another text and time
			if strings.Count(shape, "TEXT") > 1 || strings.Contains(shape, "000.0") {
				other = variant(shape, 0)
			}
			if !w.data(t, "", other) {
				t.Errorf("%s: %d goes the long way: %s", name, i, shape)
			}
		}
	}
	w := twins()["told"]
	for range 4 {
		if w.data(t, "", []byte(chunk(`{"content":"x","audio":{"id":"audio_1"}}`, "null"))) {
			t.Error("an id goes by untold")
		}
	}
}

// FuzzTheShortWay takes a script of chunks, known ones in variants and two of
// the fuzzer's own.
func FuzzTheShortWay(f *testing.F) {
	for i, shape := range shapes {
		f.Add([]byte{0xf0, 0, 0xf0, 1, 0xf1, 2, 0xf0, 3, byte(i), 1, 0xf0, 4}, []byte(shape), []byte(shapes[(i+1)%len(shapes)]))
	}
	f.Fuzz(func(t *testing.T, script, a, b []byte) {
		if len(script) > 64 {
			return
		}
		for _, w := range twins() {
			for script := script; len(script) >= 2; script = script[2:] {
				shape := shapes[int(script[0])%len(shapes)]
				if script[0] >= 0xf0 {
					shape = string([][]byte{a, b}[script[0]&1])
				}
				w.data(t, "", variant(shape, int(script[1])))
			}
			w.close(t)
		}
	})
}
