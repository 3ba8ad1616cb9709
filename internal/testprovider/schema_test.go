package testprovider_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// exampleOf returns the reply in the format of a schema, or the message that refuses it.
func exampleOf(t *testing.T, schema string) (text string, ok bool) {
	t.Helper()
	resp := send(t, http.MethodPost, "/chat/completions", chatWith(`"response_format":{"type":"json_schema","json_schema":{"schema":`+schema+`}}`))
	body := readAll(t, resp)
	if resp.StatusCode != http.StatusOK {
		return body, false
	}
	var r chatResult
	if err := json.Unmarshal([]byte(body), &r); err != nil {
		t.Fatal(err)
	}
	return r.text(), true
}

func TestExampleSatisfiesTheSchema(t *testing.T) {
	for _, tt := range []struct{ schema, want string }{
		{`true`, `{}`},
		{`{}`, `{}`},
		{`{"required":["a"],"properties":{"a":{}}}`, `{"a":"example"}`},
		{`{"type":"object","properties":{"a":{"type":"string"}}}`, `{}`},
		{`{"properties":{"a":{"type":"null"},"<b>":{"type":"boolean"}},"required":["<b>","a","a","c"]}`, `{"<b>":true,"a":null,"c":"example"}`},
		{`{"type":["null","integer"]}`, `1`},
		{`{"const":{"a":[1.50,null]}}`, `{"a":[1.50,null]}`},
		{`{"enum":["x","y"],"type":"string"}`, `"x"`},
		{`{"type":"array","items":{"type":"integer"}}`, `[]`},
		{`{"type":"array","items":{"type":"integer"},"minItems":2}`, `[1,1]`},
		{`{"type":"array","minItems":1}`, `["example"]`},
		{`{"type":"string","format":"date"}`, `"2026-01-01"`},
		{`{"type":"string","format":"of the day"}`, `"example"`},
		{`{"type":"number"}`, `1`},
		{`{"type":"integer","minimum":3.5}`, `4`},
		{`{"anyOf":[false,{"type":"integer"}]}`, `1`},
		{`{"$ref":"#/$defs/a~1b~0","$defs":{"a/b~":{"const":1}}}`, `1`},
		{`{"properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["next"]}`, `{"next":{"next":null}}`},
	} {
		if got, ok := exampleOf(t, tt.schema); !ok || got != tt.want {
			t.Errorf("%s\n got %s\nwant %s", tt.schema, got, tt.want)
		}
	}
}

func TestImpossibleSchemaIsRefused(t *testing.T) {
	lol := `{"$ref":"#/$defs/a20","$defs":{"a0":{"const":1}`
	for i := range 20 {
		prior := `{"$ref":"#/$defs/a` + strconv.Itoa(i) + `"}`
		lol += `,"a` + strconv.Itoa(i+1) + `":{"anyOf":[{"required":["x","y"],"properties":{"x":` + prior + `,"y":` + prior + `}},{"type":"null"}]}`
	}
	for _, tt := range []struct{ schema, want string }{
		{`7`, "is an object or true"},
		{`{"required":["a"],"properties":{"a":false}}`, "is an object or true"},
		{`{"type":"matrix"}`, "unknown type"},
		{`{"required":["a"],"properties":{"a":{"$ref":"#"}}}`, "back to itself"},
		{`{"$ref":"https://example.com/s"}`, "out of the schema"},
		{`{"$ref":"#/a/1","a":[1]}`, "leads nowhere"},
		{`{"type":"array","minItems":1e9}`, "more than 16384 steps"},
		{`{"const":"` + strings.Repeat("x", 300<<10) + `"}`, "more than 16384 steps"},
		{lol + `}}`, "more than 16384 steps"},
	} {
		if got, ok := exampleOf(t, tt.schema); ok || !strings.Contains(got, tt.want) {
			t.Errorf("%.200s\n got %.200s\nwant %s", tt.schema, got, tt.want)
		}
	}
}

// Whatever the schema: a JSON document or a refusal in OpenAI's form.
func FuzzExample(f *testing.F) {
	f.Add(`{"type":"object","required":["a"],"properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}`)
	f.Add(`{"type":"array","minItems":2,"items":{"type":"number","minimum":1e999}}`)
	f.Fuzz(func(t *testing.T, schema string) {
		if !json.Valid([]byte(schema)) {
			t.Skip()
		}
		text, ok := exampleOf(t, schema)
		if !json.Valid([]byte(text)) {
			t.Errorf("ok %v: %s", ok, text)
		}
	})
}
