package params_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// dropUnsigned leaves out thinking without a signature.
func dropUnsigned(b *jsonscan.Body) {
	if params.MayHaveUnsigned(b) {
		params.DropThinking(b, func(s params.Sealed) bool { return s.Content == "" })
	}
}

func TestUnsignedThinkingIsLeftOut(t *testing.T) {
	const unsigned, signed = `{"type":"thinking","thinking":"a","signature":""}`, `{"type":"thinking","thinking":"a","signature":"s"}`
	for content, want := range map[string]string{
		`[` + unsigned + `,{"type":"text","text":"b"}]`:               `[{"type":"text","text":"b"}]`,
		`[ ` + signed + ` , ` + unsigned + ` , {"type":"tool_use"} ]`: `[` + signed + `,{"type":"tool_use"}]`,
		`[` + unsigned + `]`: `[]`,
		`[{"signature": "", "thinking":"a","type":"thinking"},"x"]`: `["x"]`,
		`[{"type":"text","text":"b","signature":""}]`:               "",
		`[{"type":"tool_use","input":` + unsigned + `}]`:            "",
		`[` + signed + `]`:                                                "",
		`[{"type":"redacted_thinking","data":"x"}]`:                       "",
		`"` + strings.ReplaceAll(unsigned, `"`, `\"`) + `"`:               "",
		`[{"type":"thinking","thinking":"\"signature\":\"\""}]`:           "",
		`[[` + unsigned + `],null,1,` + unsigned + `,{"type":"a","b":1}]`: `[[` + unsigned + `],null,1,{"type":"a","b":1}]`,
	} {
		form := `{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":CONTENT,"x":1},{"content":CONTENT}],"max_tokens":9}`
		var b jsonscan.Body
		if err := b.Parse([]byte(strings.ReplaceAll(form, "CONTENT", content))); err != nil {
			t.Fatal(err)
		}
		dropUnsigned(&b)
		if want == "" {
			want = content
		}
		if got := string(b.Append(nil)); got != strings.ReplaceAll(form, "CONTENT", want) {
			t.Errorf("%s\ngot %s", content, got)
		}
	}
	for _, body := range []string{`{"model":"m"}`, `{"messages":{"signature":""}}`, `{"messages":[1,{"content":"x","signature":""}]}`} {
		var b jsonscan.Body
		if err := b.Parse([]byte(body)); err != nil {
			t.Fatal(err)
		}
		dropUnsigned(&b)
		if got := string(b.Append(nil)); got != body {
			t.Errorf("%s became %s", body, got)
		}
	}
}

func TestEachSealedPartIsFound(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages":[{"role":"assistant","reasoning_details":[{"type":"reasoning.text","text":"a","signature":"s1"},{"data":"d1"},{"data":""}]}]}`:                                                                              "s1 d1",
		`{"messages":[{"content":[{"type":"thinking","thinking":"a","signature":"s2"},{"type":"redacted_thinking","data":"d2"}]}]}`:                                                                                              "s2 d2",
		`{"messages":[{"tool_calls":[{"id":"a","extra_content":{"google":{"thought_signature":"s3"}}},{"id":"b"},7]},{"tool_calls":[{"extra_content":{"google":{}}},{"extra_content":{"google":{"thought_signature":"s4"}}}]}]}`: "s3 s4",
		`{"messages":[{"tool_calls":[{"extra_content":{"google":{"thought_signature":7}}},{"extra_content":[]}]}]}`:                                                                                                              "",
		`{"input":[{"type":"reasoning","encrypted_content":"e1"},{"type":"message"}]}`:                                                                                                                                           "e1",
		`{"contents":[{"parts":[{"thoughtSignature":"g1","text":"a"},{"thought_signature":"g2"},{"text":"b"},7]},{"role":"user"}]}`:                                                                                              "g1 g2",
		`{"messages":[{"role":"user","content":"hi"}]}`: "",
	} {
		var b jsonscan.Body
		if err := b.Parse([]byte(body)); err != nil {
			t.Fatal(err)
		}
		var found []string
		params.EachSealed(&b, func(s params.Sealed) { found = append(found, s.Content) })
		if got := strings.Join(found, " "); got != want {
			t.Errorf("%s: %q", body, got)
		}
	}
}
