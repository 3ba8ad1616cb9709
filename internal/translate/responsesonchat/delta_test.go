package responsesonchat_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

const deltaUsage = `{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}`

// written is an answer as another translation writes it, and as a provider sends it.
var written = []struct {
	delta openai.Delta
	wire  string
}{
	{openai.Delta{Role: true, Content: []byte("null"), Refusal: []byte("null")}, `{"role":"assistant","content":null,"refusal":null}`},
	{openai.Delta{Reasoning: []byte(`"hm"`)}, `{"reasoning_content":"hm"}`},
	{openai.Delta{Content: []byte(`"a"`)}, `{"content":"a"}`},
	{openai.Delta{Annotations: []byte(`[{"type":"url_citation","url":"u"}]`)}, `{"annotations":[{"type":"url_citation","url":"u"}]}`},
	{openai.Delta{Refusal: []byte(`"no"`)}, `{"refusal":"no"}`},
	{openai.Delta{Call: &openai.CallDelta{Begin: true, ID: []byte(`"call_a"`), Name: []byte(`"f"`), Arguments: []byte(`""`)}},
		`{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"f","arguments":""}}]}`},
	{openai.Delta{Call: &openai.CallDelta{Arguments: []byte(`"{}"`)}}, `{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`},
	{openai.Delta{Call: &openai.CallDelta{Index: 1, Begin: true, Name: []byte(`"g"`)}},
		`{"tool_calls":[{"index":1,"type":"function","function":{"name":"g"}}]}`},
}

// The chunks of another translation become the events of the same chunks of a provider.
func TestAWrittenAnswerIsLikeThatOfAProvider(t *testing.T) {
	var wire strings.Builder
	s := newStream(t)
	var out []byte
	for _, w := range written {
		d := w.delta
		d.ID, d.Created = []byte(`"c1"`), []byte("1700000000")
		out = translatetest.Write(s, out, &d)
		wire.WriteString(translatetest.Chunk(w.wire, translatetest.Null))
	}
	out = translatetest.Write(s, out, &openai.Delta{Finish: "tool_calls", Usage: []byte(deltaUsage)})
	if !s.Done() {
		t.Error("expects more")
	}
	out = translatetest.Write(s, out, &openai.Delta{Content: []byte(`"late"`)})
	out, err := s.Close(out, nil)
	if err != nil {
		t.Fatal(err)
	}

	wire.WriteString(strings.Replace(translatetest.Chunk(`{}`, `"tool_calls"`), "}]}", `}],"usage":`+deltaUsage+"}", 1))
	provider := responsesonchat.NewStream(originalOf(t, plainRequest), translatetest.NewCall(), counter{})
	want, err := translatetest.Drive(provider, strings.NewReader(wire.String()))
	if err != nil || string(out) != want {
		t.Errorf("%v\n got %s\nwant %s", err, out, want)
	}
	if got, want := s.Summary(), provider.Summary(); got != want {
		t.Errorf("\n got  %+v\n want %+v", got, want)
	}
	if _, err := checkEvents(string(out)); err != nil {
		t.Error(err)
	}
}

// A model writes the arguments of a custom tool token by token.
func TestTheInputOfACustomToolIsTheSameHoweverItIsCut(t *testing.T) {
	original := originalOf(t, `{"model":"fake/echo","input":"hi","tools":[{"type":"custom","name":"f"}]}`)
	for arguments, want := range map[string]string{
		`{"input":"a\n\"b\" \u00e9\ud83d\ude00 \\ \/"}`:            "a\n\"b\" é😀 \\ /",
		` { "x" : {"input":["}"],"\"":1} , "input" : "b" , "y":2}`: "b",
		"{\"input\":\"line\nend \\d \\u12x\"}":                     "line\nend \\d \\u12x",
		`"quoted"`:                                                 "quoted",
		"*** Begin\n\"patch\"":                                     "*** Begin\n\"patch\"",
		` {"patch":"other"}`:                                       ` {"patch":"other"}`,
		`{"input":7}`:                                              `{"input":7}`,
		"{\"input\":\"a\u2028b\\u2029c\"}":                         "a\u2028b\u2029c",
		"a\u2028b":                                                 "a\u2028b",
		`{}`:                                                       "",
		``:                                                         "",
	} {
		for cut := range len(arguments) + 1 {
			if !utf8.ValidString(arguments[:cut]) {
				continue
			}
			s := responsesonchat.NewStream(original, translatetest.NewCall(), counter{})
			call := openai.CallDelta{Begin: true, ID: []byte(`"call_a"`), Name: []byte(`"f"`), Arguments: jsonscan.AppendString(nil, arguments[:cut])}
			out := translatetest.Write(s, nil, &openai.Delta{Call: &call})
			call = openai.CallDelta{Arguments: jsonscan.AppendString(nil, arguments[cut:])}
			out = translatetest.Write(s, out, &openai.Delta{Call: &call})
			out, err := s.Close(translatetest.Write(s, out, &openai.Delta{Finish: "tool_calls"}), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := checkEvents(string(out)); err != nil || strings.ContainsAny(string(out), "\u2028\u2029") {
				t.Errorf("%s at %d: %v", arguments, cut, err)
			}
			var said []string
			for _, data := range jsontest.Events(t, out) {
				if jsontest.Has(t, data, `{"type":"response.custom_tool_call_input.done"}`) {
					said = append(said, jsontest.String(t, data, "input"))
				}
			}
			if len(said) != 1 || said[0] != want {
				t.Errorf("%s at %d: %q", arguments, cut, said)
			}
		}
	}
}

// Some clients split a stream at these characters, and lose what stands behind one in an event.
func TestLineSeparatorsStayEscapedInASearchForTools(t *testing.T) {
	original := originalOf(t, `{"model":"fake/echo","input":"hi","metadata":{"a":"`+"\u2028"+`"},"tools":[{"type":"tool_search","execution":"client"}]}`)
	out, err := stream(original, `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","function":{"name":"tool_search",`+
		`"arguments":"{\"query\":\"a\u2028b\u2029c\"}"}}]},"finish_reason":"tool_calls"}]}`+"\n\ndata: [DONE]\n\n")
	if err != nil || strings.ContainsAny(out, "\u2028\u2029") {
		t.Fatalf("%v: %q", err, out)
	}
	if _, err := checkEvents(out); err != nil {
		t.Error(err)
	}
	_, item, _ := strings.Cut(out, `event: response.output_item.done`+"\ndata: ")
	item, _, _ = strings.Cut(item, "\n")
	var done struct {
		Item struct{ Arguments struct{ Query string } }
	}
	if err := json.Unmarshal([]byte(item), &done); err != nil || done.Item.Arguments.Query != "a\u2028b\u2029c" {
		t.Errorf("%v: %s", err, item)
	}
}

func TestAWrittenAnswerThatIsTooLongFails(t *testing.T) {
	s := newStream(t)
	var out []byte
	piece := []byte(`"` + strings.Repeat("a", 1<<20) + `"`)
	for i := 0; i < 40 && !s.Done(); i++ {
		out = translatetest.Write(s, out[:0], &openai.Delta{Content: piece})
	}
	if s.Summary().Err == nil || terminals(string(out)) != 1 {
		t.Errorf("%+v", s.Summary())
	}
}
