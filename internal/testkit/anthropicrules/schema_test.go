package anthropicrules

import (
	"net/http"
	"strings"
	"testing"
)

func TestSchemasAreThoseOfTheSDKsTransformation(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"integer","minimum":1}`:                                                                    "property 'minimum' is not supported",
		`{"type":"string","pattern":"a"}`:                                                                   "property 'pattern' is not supported",
		`{"type":"string","format":"binary"}`:                                                               "format 'binary'",
		`{"type":"array","items":{"type":"string"},"minItems":2}`:                                           "'minItems' values other than 0 or 1",
		`{"type":"array","items":{"type":"number","maximum":1}}`:                                            "schema.items",
		`{"oneOf":[{"type":"string"}]}`:                                                                     "property 'oneOf' is not supported",
		`{"anyOf":[{"type":"string","maxLength":1}]}`:                                                       "schema.anyOf.0",
		`{"type":"object","properties":{}}`:                                                                 "'additionalProperties' must be explicitly set to false",
		`{"type":"object","properties":{"a":{"type":"string","default":"b"}},"additionalProperties":false}`: "schema.properties.a",
		`{"$ref":"#/$defs/A","description":"x"}`:                                                            "property 'description' is not supported",
		`{"$ref":"#/$defs/A","$defs":{"A":{"type":"integer","multipleOf":2}}}`:                              "schema.$defs.A",
		`{"type":"object","properties":{"a":{"type":"string","format":"date"},"b":{"enum":["x"]}},"required":["a"],"additionalProperties":false,"title":"T"}`: "",
		`{"$ref":"#/$defs/A","$defs":{"A":{"type":"array","items":{"type":"string"},"minItems":1}}}`:                                                          "",
	} {
		for _, body := range []string{
			`{"output_config":{"format":{"type":"json_schema","schema":` + schema + `}}}`, `{"tools":[{"name":"a","strict":true,"input_schema":` + schema + `}]}`,
		} {
			err := Schemas([]byte(body))
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", body, err, want)
			}
		}
	}
	if err := Schemas([]byte(`{"tools":[{"name":"a","input_schema":{"type":"object","oneOf":[]}}]}`)); err != nil {
		t.Errorf("a tool that is not strict: %v", err)
	}
}

func TestFieldsOfBetasAreRefusedOnClouds(t *testing.T) {
	const scope = `{"system":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","scope":"global"}}]`
	beta := http.Header{"Anthropic-Beta": {"a-2025-01-01,prompt-caching-scope-2026-01-05"}}
	for _, c := range []struct {
		header http.Header
		body   string
		taken  bool
	}{
		{nil, scope + `}`, false},
		{nil, `{"cache_control":{"type":"ephemeral"}}`, false},
		{beta, scope + `}`, true},
		{nil, scope + `,"anthropic_beta":["prompt-caching-scope-2026-01-05"]}`, true},
		{nil, strings.Replace(scope, `,"scope":"global"`, ``, 1) + `}`, true},
	} {
		if err := Cloud(c.header, []byte(c.body)); (err == nil) != c.taken {
			t.Errorf("%s: %v", c.body, err)
		}
	}
}
