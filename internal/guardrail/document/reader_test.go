package document_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// house are rules that redact addresses and deny two words.
var house = []detect.Rule{
	{Detector: must(detect.Email()), Mark: "[REDACTED:email]"},
	{Detector: must(detect.Words([]string{"red mercury"})), Deny: true},
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
