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
		{`{"required":["a"],"properties":{"a":{}}}`, `{"a": "example"}`},
		{`{"type":"object"}`, `{}`},
		{`{"properties":{"a":{"type":"string"}}}`, `{}`},
		{`{"properties":{"a":{"type":"null"},"<b>":{"type":"boolean"}},"required":["<b>","a","a","c"]}`, `{"<b>": true, "a": null, "c": "example"}`},
		{`{"type":["null","integer"]}`, `1`},
		{`{"const":{"a":[1.50,null]}}`, `{"a":[1.50,null]}`},
		{`{"enum":["x","y"],"type":"string"}`, `"x"`},
		{`{"type":"array","items":{"type":"integer"}}`, `[]`},
		{`{"items":{"type":"integer"},"minItems":2}`, `[1, 1]`},
		{`{"prefixItems":[{"type":"boolean"}],"items":{"const":2},"minItems":3}`, `[true, 2, 2]`},
		{`{"type":"array","minItems":1}`, `["example"]`},

		{`{"type":"string","maxLength":4}`, `"exam"`},
		{`{"type":"string","minLength":9}`, `"examplexx"`},
		{`{"type":"string","format":"date"}`, `"2026-01-01"`},
		{`{"type":"string","format":"of the day"}`, `"example"`},

		{`{"type":"number"}`, `1`},
		{`{"type":"integer","minimum":3.5}`, `4`},
		{`{"type":"integer","exclusiveMinimum":3}`, `4`},
		{`{"type":"integer","minimum":3,"exclusiveMinimum":true}`, `4`},
		{`{"type":"integer","maximum":-2}`, `-2`},
		{`{"type":"integer","exclusiveMaximum":-2}`, `-3`},
		{`{"maximum":0.5,"exclusiveMinimum":0}`, `0.5`},
		{`{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}`, `0.5`},
		{`{"type":"integer","minimum":7,"multipleOf":5}`, `10`},
		{`{"multipleOf":0.25,"minimum":1.1,"maximum":1.4}`, `1.25`},

		{`{"anyOf":[false,{"type":"integer"}]}`, `1`},
		{`{"type":"object","properties":{"a":{}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`, `{"a": "example"}`},
		{`{"properties":{"a":{"const":1}},"required":["a"],"allOf":[{"properties":{"b":{"const":2}},"required":["b"]},{"$ref":"#/$defs/c"}],
			"$defs":{"c":{"properties":{"c":{"const":3}},"required":["c"]}}}`, `{"a": 1, "b": 2, "c": 3}`},
		{`{"$ref":"#/$defs/a~1b~0/0","$defs":{"a/b~":[{"const":1}]}}`, `1`},
		{`{"properties":{"next":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["next"]}`, `{"next": {"next": null}}`},
		{`{"$ref":"#/$defs/n","$defs":{"n":{"type":["object","null"],"properties":{"n":{"$ref":"#/$defs/n"}},"required":["n"]}}}`, `null`},
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
		{`7`, "is an object or a boolean"},
		{`{"allOf":[7]}`, "is an object or a boolean"},
		{`{"required":["a"],"properties":{"a":false}}`, "is forbidden"},
		{`{"type":"matrix"}`, "unknown type"},
		{`{"required":["a"],"properties":{"a":{"$ref":"#"}}}`, "contains itself"},
		{`{"$ref":"https://example.com/s"}`, "outside of the schema"},
		{`{"$ref":"#/a/1/b","a":[1]}`, "leads nowhere"},
		{`{"type":"integer","minimum":1.2,"maximum":1.8}`, "no number is in range"},
		{`{"type":"string","minLength":1e9}`, "minLength is too large"},
		{`{"type":"array","minItems":1e9}`, "more than 16384 steps"},
		{`{"allOf":[{"$ref":"#"}],"required":["a","b"]}`, "more than 16384 steps"},
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
	f.Add(`{"allOf":[{"$ref":"#"},{"$ref":"#"}],"minItems":2,"items":{"type":"number","multipleOf":1e-300}}`)
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
