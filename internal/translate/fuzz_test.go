package translate_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	parse "github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// seeds are the files of a name in the golden files of a folder.
func seeds(f *testing.F, folder, name string) (all []string) {
	paths, _ := filepath.Glob(folder + "/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if file.Name == name {
				all = append(all, string(file.Data))
			}
		}
	}
	return all
}

// Whatever a provider sends, a client sees a response by the rules that ends
// once, and sees the same however the bytes arrive.
func FuzzStream(f *testing.F) {
	for _, wire := range seeds(f, "testdata", "stream.txt") {
		f.Add(wire, []byte{0})
	}
	f.Fuzz(func(t *testing.T, wire string, sizes []byte) { checkStream(t, wire, sizes) })
}

func checkStream(t *testing.T, wire string, sizes []byte) {
	echo := echoOf(t, plainRequest)
	out, err := stream(echo, wire)
	terminal, bad := checkEvents(out)
	if bad != nil {
		t.Fatalf("%v\nin %s", bad, out)
	}
	if (terminal == "response.failed") != (err != nil) {
		t.Fatalf("%s, error %v", terminal, err)
	}
	if err == nil && !strings.Contains(wire, "finish_reason") && !strings.Contains(wire, "[DONE]") && !strings.Contains(wire, `\u`) {
		t.Fatalf("%s of a stream without an end", terminal)
	}
	split := translate.NewStream(echo, newCall(), counter{})
	if again, _ := drive(split, &pieces{text: []byte(wire), sizes: sizes}); again != out {
		t.Fatalf("in one piece %s\nin many      %s", out, again)
	}
}

// menu is what a model may do next.
var menu = []string{
	`{"content":"a"}`, `{"content":"\ud83d"}`, `{"content":"\ude00"}`, `{"content":""}`, `{"content":null}`, `{"role":"assistant"}`,
	`{"refusal":"r"}`, `{"reasoning":"t"}`, `{"reasoning_content":"t","content":"a"}`, `{"reasoning_details":[{"text":"d"}]}`,
	`{"annotations":[{"type":"url_citation","url_citation":{"url":"u"}}]}`,
	`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}`,
	`{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]}`,
	`{"tool_calls":[{"index":1,"id":"b","function":{"name":"g"}}]}`,
	`{"tool_calls":[{"index":1,"function":{"arguments":"\\"}},{"index":0,"function":{"arguments":"1"}}]}`,
	`{"content":[{"type":"text","text":"p"},{"type":"thinking","thinking":"q"}]}`,
	`{"images":[{}]}`,
	`{"content":"b"}`, `{"content":"\"\\"}`, `{"content":"\\"}`, `{"content":"x","refusal":"y"}`, `{"content":"\"},\"refusal\":\"z"}`,
	`{"content":"x"},"x":{"content":"y"}`,
}

// Any sequence of what models do, and any end of it, makes a good stream.
func FuzzSequence(f *testing.F) {
	f.Add([]byte{0, 7, 11, 13, 12, 14, 0}, byte(0))
	f.Add([]byte{1, 1, 2, 6, 0, 10, 5}, byte(1))
	f.Add([]byte{8, 15, 9, 3, 4}, byte(2))
	f.Add([]byte{0, 16}, byte(3))
	f.Add([]byte{0, 17, 17, 18, 19, 17, 20, 20, 8, 8, 21, 22, 0, 0}, byte(0))
	f.Fuzz(func(t *testing.T, moves []byte, end byte) {
		var wire, unlike strings.Builder
		for i, move := range moves[:min(len(moves), 64)] {
			event := chunk(menu[int(move)%len(menu)], null)
			wire.WriteString(event)
			// No chunk is like the one before it, so each is walked.
			unlike.WriteString(strings.Replace(event, "{", "{"+strings.Repeat(" ", i%2), 1))
		}
		last := []string{chunk(`{}`, stop), chunk(`{}`, `"length"`), ended, "", "data: {\n\n", "event: error\ndata: {}\n\n"}[end%6]
		checkStream(t, wire.String()+last, moves)
		echo := echoOf(t, plainRequest)
		out, _ := stream(echo, wire.String()+last)
		if walked, _ := stream(echo, unlike.String()+last); walked != out {
			t.Fatalf("by the shortcut %s\nwalked          %s", out, walked)
		}
	})
}

// A request is refused by name, or asks a provider what it can read and gives
// an echo that fits into a response.
func FuzzRequest(f *testing.F) {
	for _, body := range seeds(f, "testdata", "request.json") {
		f.Add(body, true)
	}
	f.Add(`{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":[]}],"tools":[null]}`, false)
	f.Fuzz(func(t *testing.T, body string, option bool) {
		var b jsonscan.Body
		if b.Parse([]byte(body)) != nil {
			return
		}
		if _, err := parse.ParseResponses(&b); err != nil {
			return
		}
		chat, echo, err := request(body, translate.Options{DeveloperRole: option, ReasoningContent: option})
		if err != nil {
			if e := mustFail(t, err); e.HTTPStatus() != 400 || e.Param == "" && !strings.Contains(body, `""`) {
				t.Fatalf("refused by %v, param %q", e, e.Param)
			}
			return
		}
		var asked jsonscan.Body
		if err := asked.Parse(chat); err != nil {
			t.Fatalf("%s: %v", chat, err)
		}
		if _, err := parse.ParseChat(&asked); err != nil {
			t.Fatalf("%s: %v", chat, err)
		}
		out, _, err := translate.Result(nil, []byte(`{"choices":[{"message":{"content":"a"}}]}`), echo, newCall(), counter{})
		if err != nil || !json.Valid(out) || strings.ContainsAny(string(out), "\r\n") {
			t.Fatalf("%v: %s", err, out)
		}
	})
}
