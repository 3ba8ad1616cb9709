package params_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

func TestFieldsThatHaveTheProviderRunSomething(t *testing.T) {
	for field, values := range map[string]struct{ on, off []string }{
		"web_search_options":      {[]string{`{}`, `true`, `"on"`, `{"search_context_size":"low"}`}, []string{`null`, `false`, `"off"`}},
		"search_parameters":       {[]string{`{}`, `{"mode":"auto"}`, `{"Mode":"off"}`, `{"mode":"off","mode":"on"}`}, []string{`{"mode":"off"}`, `null`}},
		"enable_search":           {[]string{`true`, `1`, `"true"`}, []string{`false`, `null`}},
		"enable_code_interpreter": {[]string{`true`}, []string{`false`}},
		"web_search":              {[]string{`true`, `{}`, `{"enable":true}`}, []string{`false`, `{"enable":false}`, `{"enable":false,"search_number":10}`}},
		"multi_agent":             {[]string{`{"enabled":true}`, `{}`, `{"enabled":false,"ENABLED":true}`}, []string{`{"enabled":false}`, `null`}},
		"compound_custom":         {[]string{`{"tools":{"enabled_tools":["web_search"]}}`}, []string{`null`}},
		"data_sources":            {[]string{`[{"type":"azure_search","parameters":{}}]`, `{"type":"azure_search"}`}, []string{`[]`, `null`}},
		"mcp_servers":             {[]string{`[{"type":"url","url":"https://x"}]`, `{"x":{}}`}, []string{`[]`, `[ ]`, `null`}},
		"venice_parameters": {
			[]string{`{"enable_web_search":"auto"}`, `{"enable_web_scraping":true}`, `{"character_slug":"x"}`, `{"not_yet_known":true}`, `true`},
			[]string{`{}`, `{"enable_web_search":"off","disable_thinking":true}`, `{"include_venice_system_prompt":false,"not_yet_known":false}`},
		},
	} {
		for _, value := range values.on {
			for _, body := range []string{
				`{"` + field + `":` + value + `}`,
				`{"` + strings.ToUpper(field) + `":` + value + `}`,
				`{"extra_body":{"` + field + `":` + value + `}}`,
				`{"extra_body":{"\u00` + hex(field[0]) + field[1:] + `":` + value + `}}`,
			} {
				in := field
				switch {
				case strings.Contains(body, "extra_body"):
					in = "extra_body"
				case !strings.Contains(body, field):
					in = strings.ToUpper(field)
				}
				if got := tools(t, body); !strings.EqualFold(got.Hosted, field) || got.HostedIn != in {
					t.Errorf("%s: %+v", body, got)
				}
			}
		}
		for _, value := range values.off {
			for _, body := range []string{`{"` + field + `":` + value + `}`, `{"extra_body":{"` + field + `":` + value + `}}`} {
				if got := tools(t, body); got.Hosted != "" {
					t.Errorf("%s: %+v", body, got)
				}
			}
		}
	}
}

func hex(c byte) string { return string([]byte{"0123456789abcdef"[c>>4], "0123456789abcdef"[c&15]}) }

// Some gateways make what is in extra_body fields of the request.
func TestExtraBodyIsJudgedAsTheRequest(t *testing.T) {
	for body, hosted := range map[string]string{
		`{"extra_body":{"tools":[{"type":"mcp"}]}}`:                                         "mcp",
		`{"extra_body":{"prompt":{"id":"p"}}}`:                                              "prompt, which can bring tools",
		`{"extra_body":{"tool_choice":{"type":"web_search"}}}`:                              "web_search",
		`{"extra_body":{"google":{"tools":[{"google_search":{}}]}}}`:                        "a tool without a type",
		`{"extra_body":{"top_k":4,"metadata":{"tools":"x"},"tools":[{"type":"function"}]}}`: "",
		`{"extra_body":null}`: "",
	} {
		if got := tools(t, body); got.Hosted != hosted {
			t.Errorf("%s: %+v, want %q", body, got, hosted)
		}
	}
	got, r, err := refs(t, `{"extra_body":{"previous_response_id":"r1","background":true,"functions":[{},{}],"rag":[{"type":"input_file","file_id":"f1"}]}}`)
	if err != nil || got != "extra_body.previous_response_id response=r1, extra_body.rag.file_id file=f1" || !r.Background || r.Tools.Count != 2 {
		t.Errorf("%s %+v %v", got, r, err)
	}
}

// LiteLLM lets what is in extra_body win over what was judged beside it.
func TestExtraBodyHasNothingThatIsJudgedOnlyBesideIt(t *testing.T) {
	for body, param := range map[string]string{
		`{"extra_body":"tools"}`:                                "extra_body",
		`{"extra_body":[{"tools":1}]}`:                          "extra_body",
		`{"extra_body":{"model":"other/m"}}`:                    "extra_body.model",
		`{"extra_body":{"Model":"other/m"}}`:                    "extra_body.Model",
		`{"extra_body":{"\u006dodel":"other/m"}}`:               "extra_body.model",
		`{"extra_body":{"extra_body":{"n":9}}}`:                 "extra_body.extra_body", // a second gateway could merge it too
		`{"extra_body":{"candidate_count":9}}`:                  "extra_body.candidate_count",
		`{"extra_body":{"top_k":1,"n":9}}`:                      "extra_body.n",
		`{"extra_body":{"messages":[]}}`:                        "extra_body.messages",
		`{"extra_body":{"input":[{"type":"program"}]}}`:         "extra_body.input",
		`{"extra_body":{"max_tokens":100000}}`:                  "extra_body.max_tokens",
		`{"extra_body":{"n_predict":100000}}`:                   "extra_body.n_predict",
		`{"extra_body":{"options":{"num_predict":100000}}}`:     "extra_body.options",
		`{"extra_body":{"service_tier":"priority","stream":1}}`: "extra_body.service_tier",
	} {
		if _, _, err := refs(t, body); err == nil || apierror.From(err).Param != param || apierror.From(err).HTTPStatus() != 400 {
			t.Errorf("%s: %v, want a refusal of %s", body, err, param)
		}
	}
}

// Assistants and servers of open models name state in fields of their own.
func TestUnknownFieldsNameStoredState(t *testing.T) {
	for body, want := range map[string]string{
		`{"vector_store_ids":["v1","v2"]}`:                                  "vector_store_ids vector_store=v1, vector_store_ids vector_store=v2",
		`{"file_ids":["f1"]}`:                                               "file_ids file=f1",
		`{"file_id":"f1"}`:                                                  "file_id file=f1",
		`{"attachments":[{"file_id":"f1","note":"n"}]}`:                     "attachments.file_id file=f1",
		`{"tool_resources":{"file_search":{"vector_store_ids":["v1"]}}}`:    "tool_resources.vector_store_ids vector_store=v1",
		`{"extra_body":{"file_ids":["f1"],"rag":{"vector_store_id":"v1"}}}`: "extra_body.file_ids file=f1, extra_body.rag.vector_store_id vector_store=v1",
		`{"metadata":{"file_id":"mine"},"rag":{"parameters":{"a":1}}}`:      "",
	} {
		if got, _, err := refs(t, body); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", body, got, err, want)
		}
	}
}

// What a caller's function is called with may have any names.
func TestArgumentsOfFunctionsNameNothing(t *testing.T) {
	for _, body := range []string{
		`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"docker","input":{"container":"web","file_ids":["a"],"audio":{"id":"x"}}}]}]}`,
		`{"input":[{"type":"tool_search_call","call_id":"c","arguments":{"file_id":"x","items":[{"type":"item_reference","id":"i"}]}}]}`,
		`{"input":[{"type":"local_shell_call","call_id":"c","action":{"type":"exec","env":{"container_id":"x","tools":"y","file_id":"z"}}}]}`,
		`{"input":[{"type":"function_call","call_id":"c","name":"f","arguments":{"input":[{"type":"program"}],"tools":["web_search"]}}]}`,
		`{"tools":[{"type":"shell","environment":{"type":"local","env":{"tools":["x"],"container_id":"y"}}}]}`,
	} {
		got, r, err := refs(t, body)
		if err != nil || got != "" || r.Tools.Hosted != "" {
			t.Errorf("%s: %s %+v %v", body, got, r, err)
		}
	}
}

func TestItemsThatHaveTheProviderRunSomething(t *testing.T) {
	for body, hosted := range map[string]string{
		`{"input":[{"type":"program","call_id":"c","fingerprint":"f"}]}`:                   "program",
		`{"input":[{"type":"program","call_id":"c","Finger\u0070rint":"f"}]}`:              "program",
		`{"input":[{"items":[{"type":"program","fingerprint":"f"}]}]}`:                     "program",
		`{"input":[[{"type":"mcp_approval_response","approval_request_id":"m"}]]}`:         "mcp_approval_response",
		`{"input":[{"type":"function_call_output","fingerprint":"f","output":"program"}]}`: "",
	} {
		if got := tools(t, body); got.Hosted != hosted {
			t.Errorf("%s: %+v, want %q", body, got, hosted)
		}
	}
}

// With something wrong in a reference the tools are judged all the same.
func TestToolsBesideAReferenceThatIsNone(t *testing.T) {
	_, r, err := refs(t, `{"previous_response_id":5,"input":[{"file_id":""}],"tools":[{"type":"web_search"}]}`)
	if err == nil || r.IDs != nil || r.Tools.Hosted != "web_search" {
		t.Errorf("%+v %v", r, err)
	}
}
