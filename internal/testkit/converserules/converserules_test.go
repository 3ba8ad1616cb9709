package converserules

import (
	"strings"
	"testing"
)

const (
	tools = `"toolConfig":{"tools":[{"toolSpec":{"name":"a","inputSchema":{"json":{"type":"object"}}}}]}`
	hello = `{"role":"user","content":[{"text":"hello"}]}`
	use   = `{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"a","input":{}}}]}`
	back  = `{"role":"user","content":[{"toolResult":{"toolUseId":"c1","content":[{"text":"x"}]}}]}`
)

func TestConverseRefusesWhatBedrockRefuses(t *testing.T) {
	said := `"messages":[` + hello + `]`
	called := tools + `,"messages":[` + hello + `,` + use + `,` + back + `]`
	swap := func(in, from, to string) string { return strings.Replace(in, from, to, 1) }
	for members, want := range map[string]string{
		`"messages":[]`:                            "must start with a user message",
		`"messages":[` + use + `]`:                 "must start with a user message",
		`"messages":[` + hello + `,` + hello + `]`: "must alternate",
		swap(said, `{"text":"hello"}`, ``):         "is empty",
		swap(said, `hello`, `\n `):                 "is blank",
		`"system":[{"text":""}],` + said:           "system.0 is blank",
		swap(said, `{"text":"hello"}`, `{"image":{"format":"jpg","source":{}}}`):                   "image.format",
		swap(said, `{"text":"hello"}`, `{"document":{"name":"a","format":"pdf","source":{}}}`):     "text block must be included",
		swap(said, `{"text":"hello"}`, `{"text":"x"},{"document":{"name":"a_b.pdf","source":{}}}`): "document name",
		swap(said, `"text":"hello"`, `"text":"hello","image":{}`):                                  "one member must be set",
		swap(called, tools+`,`, ``): "toolConfig field must be defined",
		swap(called, `,`+back, ``):  "Expected toolResult blocks at the end",
		swap(called, `"toolResult":{"toolUseId":"c1"`, `"toolResult":{"toolUseId":"c2"`):                    "Expected toolResult blocks at messages.2.content",
		swap(called, `,`+use, `,{"role":"assistant","content":[{"text":"x"}]}`):                             "exceeds the number of toolUse blocks",
		swap(called, `"toolUse":{"toolUseId":"c1"`, `"toolUse":{"toolUseId":""`):                            "toolUseId",
		swap(called, `"toolUse":{"toolUseId":"c1"`, `"toolUse":{"toolUseId":"`+strings.Repeat("x", 65)+`"`): "toolUseId",
		swap(called, `"name":"a","input":{}`, `"name":"a.b","input":{}`):                                    "toolUse.name",
		swap(called, `"input":{}`, `"input":"{}"`):                                                          "Provide a json object",
		swap(called, `[{"toolUse":{"toolUseId":"c1","name":"a","input":{}}}`, `[{"toolUse":{"toolUseId":"c1","name":"a","input":{}}},{"toolUse":{"toolUseId":"c1","name":"a","input":{}}}`): "duplicate Ids",
		said + `,"toolConfig":{"tools":[]}`:                                                                       "length greater than or equal to 1",
		said + `,` + swap(tools, `"a"`, `"a/b"`):                                                                  "toolSpec.name",
		said + `,` + swap(tools, `"a",`, `"a","description":"",`):                                                 "toolSpec.description",
		said + `,` + swap(tools, `{"type":"object"}`, `{}`):                                                       "inputSchema.json.type",
		said + `,` + swap(tools, `}]}`, `},{"toolSpec":{"name":"a","inputSchema":{"json":{"type":"object"}}}}]}`): "duplicate names",
		said + `,` + swap(tools, `]}`, `],"toolChoice":{"tool":{"name":"b"}}}`):                                   "not in toolConfig.tools",
	} {
		if err := Check([]byte("{" + members + "}")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", members, err, want)
		}
	}
	for _, members := range []string{said, called, `"system":[{"text":"x"},{"cachePoint":{"type":"default"}}],` + said} {
		if err := Check([]byte("{" + members + "}")); err != nil {
			t.Errorf("%s: %v", members, err)
		}
	}
}
