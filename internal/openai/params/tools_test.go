package params_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

func tools(t testing.TB, body string) params.ToolUse {
	t.Helper()
	_, r, err := refs(t, body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return r.Tools
}

// templates are bodies that declare a tool, which is %s, and the field that does so.
var templates = map[string]string{
	`{"tools":[%s]}`: "tools",
	`{"tools":[{"type":"namespace","name":"n","tools":[%s]}]}`:                                                         "tools",
	`{"input":[{"type":"additional_tools","role":"developer","tools":[%s]}]}`:                                          "input",
	`{"input":[{"role":"user","content":"x"},{"tools":[%s],"type":"tool_search_output","execution":"client"}]}`:        "input",
	`{"input":[{"type":"additional_tools","tools":[{"type":"namespace","tools":[%s]}]}]}`:                              "input",
	`{"input":[{"type":"not_yet_known","Tools":[%s]}]}`:                                                                "input",
	`{"input":[{"type":"not_yet_known","deeper":{"to\u006fls":[%s]}}]}`:                                                "input",
	`{"messages":[{"role":"system","tools":[%s]}]}`:                                                                    "messages",
	`{"extra_body":{"google":{"tools":[%s]}}}`:                                                                         "extra_body",
	`{"input":[{"type":"tool_search_output","tools":[{"type":"function","parameters":{"tools":[{}]}}],"tools":[%s]}]}`: "input",
}

func TestToolsAreJudgedAnywhere(t *testing.T) {
	for template, field := range templates {
		for tool, hosted := range map[string]string{
			`{"type":"web_search"}`:                                                                   "web_search",
			`{"type":"mcp","server_url":"https://mcp.example"}`:                                       "mcp",
			`{"server_url":"https://mcp.example","type":"m\u0063p"}`:                                  "mcp",
			`{"type":"code_interpreter","container":{"type":"auto"}}`:                                 "code_interpreter",
			`{"type":"programmatic_tool_calling"}`:                                                    "programmatic_tool_calling",
			`{"type":"function","type":"web_search"}`:                                                 "web_search",
			`{"type":"openrouter:web_search","parameters":{}}`:                                        "openrouter:web_search",
			`{"type":"` + strings.Repeat("x", 100) + `"}`:                                             strings.Repeat("x", 64),
			`{"type":"tool_search"}`:                                                                  `tool_search, whose execution is not "client"`,
			`{"type":"tool_search","execution":"server"}`:                                             `tool_search, whose execution is not "client"`,
			`{"type":"tool_search","Execution":"client"}`:                                             `tool_search, whose execution is not "client"`,
			`{"type":"tool_search","execution":["client"]}`:                                           `tool_search, whose execution is not "client"`,
			`{"execution":"client","type":"tool_search","execution":5}`:                               `tool_search, whose execution is not "client"`,
			`{"type":"tool_search","execution":"client","EXECUTION":"server"}`:                        `tool_search, whose execution is not "client"`,
			`{"type":"shell"}`:                                                                        `shell, whose environment is not of type "local"`,
			`{"type":"shell","environment":null}`:                                                     `shell, whose environment is not of type "local"`,
			`{"type":"shell","environment":"local"}`:                                                  `shell, whose environment is not of type "local"`,
			`{"type":"shell","environment":{"type":"container_auto"}}`:                                `shell, whose environment is not of type "local"`,
			`{"type":"shell","environment":{"type":"local","type":"container_auto"}}`:                 `shell, whose environment is not of type "local"`,
			`{"type":"shell","Environment":{"type":"local"}}`:                                         `shell, whose environment is not of type "local"`,
			`{"type":"shell","environment":{"Type":"local"}}`:                                         `shell, whose environment is not of type "local"`,
			`{"type":"shell","environment":[{"type":"local"}]}`:                                       `shell, whose environment is not of type "local"`,
			`{"type":"shell","environment":{"type":"local"},"environment":{"type":"container_auto"}}`: `shell, whose environment is not of type "local"`,
			`{"type":"function","type":"shell"}`:                                                      `shell, whose environment is not of type "local"`,
			`{"google_search":{}}`:                                                                    "a tool without a type",
			`{"type":null,"google_search":{}}`:                                                        "a tool without a type",
			`{"type":""}`:                                                                             "a tool without a type",
			`{"Type":"function"}`:                                                                     "a tool without a type",
			`[{"type":"function"}]`:                                                                   "a tool without a type",
			`"web_search"`:                                                                            "a tool without a type",
			`{"type":{"type":"function"}}`:                                                            "a tool without a type",
			`{"function":{"type":"function"}}`:                                                        "a tool without a type",
			strings.Repeat(`{"type":"namespace","tools":[`, 4) + `{"type":"function"}` + strings.Repeat(`]}`, 4): "a tool nested too deep",
		} {
			body := strings.ReplaceAll(template, "%s", `{"type":"function","name":"f"},`+tool)
			if got := tools(t, body); got.Hosted != hosted || got.HostedIn != field {
				t.Errorf("%s: %q in %q, want %q in %q", body, got.Hosted, got.HostedIn, hosted, field)
			}
		}
	}
}

// What the caller runs, as the tools of Codex and of the Agents SDK are sent.
var clientRun = map[string]int{ // and how many of them the provider describes
	`{"type":"function","name":"exec_command","description":"d","strict":false,"parameters":{"type":"object","properties":{"tools":{"type":"array"},"cmd":{"type":"string"}}}}`: 0,
	`{"type":"function","function":{"name":"f","parameters":{"tools":[{"type":"web_search"}]}}}`:                                                                                0,
	`{"type":"function","name":"f","output_schema":{"tools":["x"]}}`:                                                                                                            0,
	`{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}`:                                                                0,
	`{"type":"tool_search","execution":"client","description":"d","parameters":{"type":"object"}}`:                                                                              0,
	`{"type":"local_shell"}`: 1,
	`{"type":"shell","environment":{"type":"local","skills":[{"name":"n","description":"d","path":"/p"}]}}`: 1,
	`{"type":"apply_patch"}`: 1,
	`{"type":"computer"}`:    1,
	`{"type":"computer_use_preview","environment":"browser","display_width":1024,"display_height":768}`: 1,
	`{"type":"namespace","name":"empty","description":"d","tools":[]}`:                                  0,
}

func TestToolsThatTheCallerRunsAreItsOwn(t *testing.T) {
	for template := range templates {
		if strings.Contains(template, "parameters") {
			continue // declares one more
		}
		base := tools(t, strings.ReplaceAll(template, "%s", "")).Count
		for tool, described := range clientRun {
			body := strings.ReplaceAll(template, "%s", tool)
			if got := tools(t, body); got.Hosted != "" || got.Count != base+1 || got.BuiltIn != described {
				t.Errorf("%s: %+v", body, got)
			}
		}
	}
}

func TestToolsAreCountedAtEveryDepth(t *testing.T) {
	for body, want := range map[string]int{
		`{}`:                              0,
		`{"tools":null}`:                  0,
		`{"tools":[{"type":"function"}]}`: 1,
		`{"functions":[{"name":"a"},{"name":"b"}],"tools":[{"type":"function"}]}`:                                                 3,
		`{"tools":[{"type":"namespace","tools":[{"type":"function"},{"type":"custom"}]},{"type":"web_search"}]}`:                  4,
		`{"tools":[{"type":"function"}],"input":[{"type":"additional_tools","tools":[{"type":"function"},{"type":"function"}]}]}`: 3,
		`{"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"}]}}`:                         0,
	} {
		if got := tools(t, body).Count; got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}

// What a request asks the provider to run without declaring a tool.
func TestOtherWaysToHaveTheProviderRunTools(t *testing.T) {
	for body, want := range map[string]string{
		`{"web_search_options":{}}`:                          "web_search_options",
		`{"search_parameters":{"mode":"on"}}`:                "search_parameters",
		`{"Enable_Search":true}`:                             "Enable_Search",
		`{"mcp_servers":[{"type":"url","url":"https://x"}]}`: "mcp_servers",
		`{"prompt":{"id":"p1"}}`:                             "prompt, which can bring tools",
		`{"tool_choice":{"type":"openrouter:web_search"}}`:   "openrouter:web_search",
		`{"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"mcp","server_label":"x"}]}}`:         "mcp",
		`{"input":[{"type":"mcp_approval_response","approval_request_id":"m1","approve":true}]}`:                     "mcp_approval_response",
		`{"input":[{"type":"program","id":"p","call_id":"c","code":"x","fingerprint":"f"}]}`:                         "program",
		`{"input":[{"type":"mcp_list_tools","id":"l","server_label":"s","tools":[{"name":"n","input_schema":{}}]}]}`: "a tool without a type",
		`{"input":[{"type":"additional_tools","tools":{"web":{"type":"web_search"}}}]}`:                              "a tool without a type",
		`{"input":[{"type":"additional_tools","tools":"web_search"}]}`:                                               "a tool without a type",
	} {
		if got := tools(t, body).Hosted; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestWhatOnlySpeaksOfTools(t *testing.T) {
	for _, body := range []string{
		`{"web_search_options":null,"search_parameters":null,"enable_search":false,"prompt":null}`,
		`{"tool_choice":"auto"}`, `{"tool_choice":{"type":"function","name":"f"}}`, `{"tool_choice":{"type":"function","function":{"name":"f"}}}`,
		`{"tool_choice":{"type":"shell"}}`, `{"tool_choice":{"type":"apply_patch"}}`, `{"tool_choice":{"type":"tool","name":"f"}}`, `{"tool_choice":null}`,
		`{"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[{"type":"function","name":"f"},{"type":"tool_search"},{"type":"custom","name":"c"}]}}`,
		`{"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[{"type":"function","function":{"name":"f"}}]}}}`,
		`{"input":[{"type":"tool_search_call","id":"tsc_1","call_id":"c","execution":"client","arguments":{"tools":["web_search"],"limit":8}}]}`,
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"tools":[{"type":"web_search"}]}}]}]}`,
		`{"input":[{"role":"user","content":"{\"tools\":[{\"type\":\"web_search\"}]}"}]}`,
		`{"input":[{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}]}`,
		`{"metadata":{"tools":"x"},"client_metadata":{"tools":["x"]},"response_format":{"json_schema":{"schema":{"properties":{"tools":{"type":"array"}}}}}}`,
		`{"output_format":{"schema":{"properties":{"tools":{"type":"array","items":{"type":"string"}}}}}}`,
		`{"usage":{"tools":3}}`,
	} {
		if got := tools(t, body); got.Hosted != "" {
			t.Errorf("%s: %+v", body, got)
		}
	}
}

// A body without tools below its top level is not read a second time for them.
func TestOrdinaryMessagesAreNotTakenForTools(t *testing.T) {
	b := strict(t, `{"messages":[{"role":"user","name":"n","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"5m"}},
		{"type":"image_url","image_url":{"url":"u","detail":"low"}}]},{"role":"assistant","refusal":null,"annotations":[],"reasoning":"r",
		"reasoning_content":"r","tool_calls":[{"id":"c","index":0,"type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c"}],
		"input":[{"type":"function_call_output","call_id":"c","output":"x","status":"completed"},{"summary":[],"encrypted_content":"e","phase":"commentary"}]}`)
	for _, m := range b.Members() {
		if m.Nested.MayHave(jsonscan.KeysOf("tools", "fingerprint")) {
			t.Errorf("one of the keys is taken for tools: %v", m)
		}
	}
}

// FuzzTools holds the walk to a decoder: whatever object encoding/json finds in a list called tools
// is judged, unless the list is arguments or a schema.
func FuzzTools(f *testing.F) {
	for template := range templates {
		f.Add([]byte(strings.ReplaceAll(template, "%s", `{"type":"web_search"}`)))
		f.Add([]byte(strings.ReplaceAll(template, "%s", `{"type":"shell","environment":{"type":"local"}}`)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var b jsonscan.Body
		if b.Parse(body) != nil {
			return
		}
		r, err := params.References(&b)
		if err != nil {
			return
		}
		var v map[string]any
		if json.Unmarshal(body, &v) != nil {
			return
		}
		for _, root := range []string{"tools", "input"} {
			if hosted := hostedIn(map[string]any{root: v[root]}, 0); hosted != "" && r.Tools.Hosted == "" {
				t.Fatalf("%s: %q is not seen: %+v", body, hosted, r.Tools)
			}
		}
	})
}

// hostedIn returns a type that a decoder finds in lists of tools and that the caller does not run. The
// lists may be in any field.
func hostedIn(v any, depth int) string {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if s := hostedIn(e, depth+1); s != "" {
				return s
			}
		}
	case map[string]any:
		for key, e := range v {
			if depth > 0 && opaque(key) {
				continue
			}
			switch strings.ToLower(key) {
			case "parameters", "schema", "input_schema", "output_schema":
				continue
			case "tools":
				list, _ := e.([]any)
				for _, tool := range list {
					o, _ := tool.(map[string]any)
					switch typ, _ := o["type"].(string); typ {
					case "", "function", "custom", "namespace", "local_shell", "apply_patch", "computer", "computer_use_preview":
					case "tool_search":
						if o["execution"] != "client" {
							return typ
						}
					case "shell":
						if environment, _ := o["environment"].(map[string]any); environment["type"] != "local" {
							return typ
						}
					default:
						return typ
					}
				}
			}
			if depth < 20 {
				if s := hostedIn(e, depth+1); s != "" {
					return s
				}
			}
		}
	}
	return ""
}
