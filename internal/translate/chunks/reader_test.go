package chunks

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

// script writes down the content of an answer.
type script struct{ strings.Builder }

func (s *script) Text(piece, logprobs []byte) { s.note("text", piece, logprobs) }
func (s *script) Reasoning(piece, _ []byte)   { s.note("reasoning", piece) }
func (s *script) Refusal(piece []byte)        { s.note("refusal", piece) }
func (s *script) Begin(bool)                  {}

func (s *script) Citation(c translate.Citation) { s.note("citation", c.URL) }

func (s *script) BeginCall(_ int, _ bool, id, name []byte) { s.note("call", id, name) }

func (s *script) Arguments(call int, _ bool, piece []byte) {
	s.note("arguments", []byte{'0' + byte(call)}, piece)
}

func (s *script) note(what string, values ...[]byte) {
	s.WriteString(what)
	for _, v := range values {
		s.WriteString(" " + string(v))
	}
	s.WriteString("\n")
}

// The shapes in which providers give content; goldens of the translations have the rest.
func TestContentIsReadInEveryShape(t *testing.T) {
	for delta, want := range map[string]string{
		`{"content":"a","reasoning":"b","reasoning_content":"b"}`:                           "reasoning b\ntext a \n",
		`{"reasoning_details":[{"text":"a"},{"summary":"b"},{"data":"c"}]}`:                 "reasoning a\nreasoning b\n",
		`{"content":[{"type":"thinking","thinking":[{"text":"a"}]},{"text":"b"}]}`:          "reasoning a\ntext b \n",
		`{"content":"","refusal":"a"}`:                                                      "refusal a\n",
		`{"annotations":[{"type":"url_citation","url_citation":{"url":"u"}},{"type":"x"}]}`: "citation \"u\"\n",
		`{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}},{"index":1,"id":"b","function":{"name":"g"}},{"index":0,"function":{"arguments":" "}}]}`: "call \"a\" \"f\"\narguments 0 {}\ncall \"b\" \"g\"\narguments 0  \n",
	} {
		var s script
		r := NewReader(new(openai.Call), &s, Options{Stream: true})
		read(t, &r, `{"choices":[{"index":0,"delta":`+delta+`},{"index":1,"delta":{"content":"of another choice"}}]}`)
		if s.String() != want {
			t.Errorf("%s: %s", delta, &s)
		}
	}
}

func read(t *testing.T, r *Reader, chunk string) {
	t.Helper()
	event := openai.NewEvent(nil, []byte(chunk))
	found, ok, bad := openai.NewChatStream(openai.Call{}).Read(event)
	if bad != nil || !ok {
		t.Fatalf("%s: %v", chunk, bad)
	}
	if bad := r.Read(&found); bad != nil {
		t.Fatal(bad)
	}
}

func TestAReaderReleasesTheMemoryOfALongChunk(t *testing.T) {
	var s script
	r := NewReader(new(openai.Call), &s, Options{Stream: true, Logprobs: true})
	token := `{"token":"` + strings.Repeat("a", 100) + `","logprob":-1,"bytes":null,"top_logprobs":[]}`
	tokens := strings.Repeat(token+",", 1<<10) + token
	extra := ""
	for i := range 300 {
		extra += `,"x` + strings.Repeat("y", i) + `":1`
	}
	read(t, &r, `{"choices":[{"index":0,"delta":{"content":[{"text":"hi"`+extra+`}]},"logprobs":{"content":[`+tokens+`]}}]}`)
	if !strings.Contains(s.String(), "text hi") {
		t.Fatalf("%.200s", &s)
	}
	r.trim()
	if n := cap(r.tokens); n > translate.MaxScratch {
		t.Errorf("the log probabilities keep %d bytes", n)
	}
}
