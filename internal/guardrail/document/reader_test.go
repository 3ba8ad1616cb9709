package document_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// house are rules that redact addresses and deny two words.
var house = []detect.Rule{
	{Detector: must(detect.Email()), Mark: "[REDACTED:email]"},
	{Detector: must(detect.Words([]string{"red mercury"})), Deny: true},
}

func TestDuplicateKeysAreRefused(t *testing.T) {
	many := func(last string) string {
		var b strings.Builder
		for i := range 40 {
			fmt.Fprintf(&b, `"k%d":1,`, i)
		}
		return b.String() + last
	}
	tests := []struct{ body, param, key string }{
		{`{"messages":[{"content":"a","content":"b"}]}`, "messages", "content"},
		{`{"messages":[{"content":"a","Content":"b"}]}`, "messages", "Content"},
		{`{"messages":[{"content":"a","c\u006fntent":"b"}]}`, "messages", `c\u006fntent`},
		{`{"messages":[{"text":"a","te\u212at":1,"teKt":"b","tekt":1}]}`, "messages", "teKt"},
		{`{"messages":[{"is":"a","iſ":"b"}]}`, "messages", "iſ"},
		{`{"tools":[{"parameters":{"a":1,"a":2}}]}`, "tools", "a"},
		{`{"metadata":{` + many(`"k7":1`) + `}}`, "metadata", "k7"},
		{`{"input":[{` + many(`"K7":1`) + `}]}`, "input", "K7"},
		{`{"tools":[{"parameters":{"a":1,"A":2}}],"metadata":{` + many(`"K7":1`) + `},"input":[{"a":{"a":{}}},{"a":1}]}`, "", ""},
		{`{"chat_template_kwargs":{"a":1,"A":2},"extra_body":{"a":1,"A":2},"messages":[{"tool_calls":[{"extra_content":{"a":1,"A":2}}]}]}`, "", ""},
		{`{"input":[{"tools":[{"annotations":{"title":"a","Title":"b"}}]}]}`, "", ""},
		{`{"extra_body":{"a":1,"a":2}}`, "extra_body", "a"},
	}
	for _, test := range tests {
		if _, err := jsonscan.Strict([]byte(test.body), nil); err != nil {
			t.Fatal(err)
		}
		_, err := judge(t, house, test.body, false)
		var duplicate *document.DuplicateError
		switch {
		case test.key == "" && err != nil:
			t.Errorf("%s: %v", test.body, err)
		case test.key != "" && (!errors.As(err, &duplicate) || duplicate.Key != test.key || duplicate.Param != test.param):
			t.Errorf("%s: %v, want %q in %s", test.body, err, test.key, test.param)
		}
	}
	if _, err := judge(t, house, `{"choices":[{"a":1,"a":2}]}`, true); err != nil {
		t.Errorf("a provider may repeat itself: %v", err)
	}
}

func TestBodiesThatHoldNothingPassAsTheyAre(t *testing.T) {
	const body = `{"input":"\u0061 \ud83d is fine","messages":[ {"content":"caf\u00e9"} ]}`
	if got, err := judge(t, house, body, false); err != nil || got != "" {
		t.Errorf("%s, %v", got, err)
	}
}

// shape replaces every string value by a word that says whether it is a JSON object or array.
// Arguments are a text in any form.
func shape(t *testing.T, body []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var blank func(v any) any
	blank = func(v any) any {
		switch v := v.(type) {
		case string:
			if text := strings.TrimLeft(v, " \t\r\n"); text != "" && strings.Contains("{[", text[:1]) && json.Valid([]byte(v)) {
				return "json"
			}
			return "s"
		case []any:
			for i := range v {
				v[i] = blank(v[i])
			}
		case map[string]any:
			for k := range v {
				if v[k] = blank(v[k]); k == "arguments" {
					v[k] = "s"
				}
			}
		}
		return v
	}
	out, _ := json.Marshal(blank(value))
	return string(out)
}

func FuzzOnlyStringsChange(f *testing.F) {
	for _, body := range []string{
		`{"messages":[{"role":"user","content":"a@b.de"}]}`,
		`{"input":[{"content":[{"text":"x \u0061@b.de \" a@b.de"}]},["a@b.de"]],"a@b.de":"a@b.de"}`,
		`{"a":["{\"a\":\"x\\na@b.de\"}"," [\"\\u0061@b.de\",\"red\\nmercury\"]","[a@b.de]"]}`,
		`{"a":{"b":{"c":["a@b.de",1.50,null,true,{"type":"a@b.de"}]}}}`,
		`{"input":[{"arguments":{"a@b.de":"a@b.de"}},{"arguments": 4 },{"arguments":["a@b.de",null]}]}`,
		`{"choices":[{"logprobs":{"content":[{"token":"a@b.de"}]},"message":{"content":"a@b.de"}}]}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if _, err := jsonscan.Strict(body, nil); err != nil {
			return
		}
		if got, err := judge(t, house, string(body), false); err == nil && got != "" {
			if before, after := shape(t, body), shape(t, []byte(got)); before != after {
				t.Errorf("%s became %s", body, got)
			}
			again, err := judge(t, house, got, false)
			if err != nil || again != "" {
				t.Errorf("%s is not settled: %s, %v", got, again, err)
			}
		}
		if got, err := judge(t, house, string(body), true); err == nil && got != "" && !json.Valid([]byte(got)) {
			t.Errorf("%s became %s", body, got)
		}
	})
}
