package params_test

import (
	"cmp"
	"fmt"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

func TestParseMessages(t *testing.T) {
	req, err := params.ParseMessages(strict(t, `{"model":"a/m","max_tokens":0,"stream":true,"messages":[]}`))
	if err != nil || req.Model != "a/m" || !req.Stream {
		t.Errorf("%+v, %v", req, err)
	}
	for body, param := range map[string]string{
		`{"max_tokens":1,"messages":[]}`:                                         "model",
		`{"model":"m","messages":[]}`:                                            "max_tokens",
		`{"model":"m","max_tokens":null,"messages":[]}`:                          "max_tokens",
		`{"model":"m","max_tokens":-1,"messages":[]}`:                            "max_tokens",
		`{"model":"m","max_tokens":"1","messages":[]}`:                           "max_tokens",
		`{"model":"m","max_tokens":1.5,"messages":[]}`:                           "max_tokens",
		`{"model":"m","max_tokens":1e15,"messages":[]}`:                          "max_tokens",
		`{"model":"m","max_tokens":1}`:                                           "messages",
		`{"model":"m","max_tokens":1,"messages":"hi"}`:                           "messages",
		`{"model":"m","max_tokens":1,"messages":[],"stream":1}`:                  "stream",
		`{"model":"m","max_tokens":1,"messages":[],"Stream":true}`:               "Stream",
		`{"model":"m","max_tokens":1,"messages":[],"fallback_credit_token":"x"}`: "fallback_credit_token",
		`{"model":"m","max_tokens":1,"messages":[],"Fallbacks":"default"}`:       "Fallbacks",
		`{"model":"m","max_tokens":1,"messages":[],"fallback_credit_token":1}`:   "fallback_credit_token",
	} {
		if _, err := params.ParseMessages(strict(t, body)); err == nil || apierror.From(err).Param != param || apierror.From(err).HTTPStatus() != 400 {
			t.Errorf("%s: %v, want a refusal of %s", body, err, param)
		}
	}
	if req, err := params.ParseCountTokens(strict(t, `{"model":"m","messages":[],"stream":true}`)); err != nil || req.Stream {
		t.Errorf("%+v, %v", req, err)
	}
}

// A request for 0 tokens only warms the provider's cache: no default may take the place of the 0.
func TestMessagesLimits(t *testing.T) {
	for body, want := range map[string]int64{
		`{"max_tokens":0,"messages":[{},{}]}`:   1,
		`{"max_tokens":1e3,"messages":[{},{}]}`: 1000,
	} {
		b := strict(t, body)
		l, err := params.MessagesLimits(b)
		if err != nil || l.Output != want || l.Messages != 2 || l.Choices != 1 || l.Param != "max_tokens" {
			t.Errorf("%s: %+v, %v", body, l, err)
		}
		l.SetOutput(b, "", 7)
		if got := string(b.Append(nil)); got != `{"max_tokens":7,"messages":[{},{}]}` {
			t.Error(got)
		}
	}
}

func TestThinkingHasToFitTheOutput(t *testing.T) {
	for thinking, fits := range map[string]bool{
		`{"type":"enabled","budget_tokens":1999}`: true,
		`{"type":"enabled","budget_tokens":2000}`: false,
		`{"type":"adaptive"}`:                     true,
		`null`:                                    true,
		`{"type":"enabled","budget_tokens":"x"}`:  true, // the provider refuses it
	} {
		err := params.CheckThinking(strict(t, `{"thinking":`+thinking+`}`), 2000)
		if (err == nil) != fits || err != nil && apierror.From(err).Param != "thinking.budget_tokens" {
			t.Errorf("%s: %v", thinking, err)
		}
	}
}

func TestToolsOfMessages(t *testing.T) {
	for tool, want := range map[string]string{ // hosted, and how many are described by the provider
		`{"name":"f","input_schema":{"type":"object","properties":{"tools":{"type":"array"},"type":{"type":"string"}}}}`: " 0",
		`{"type":"custom","name":"f","input_schema":{}}`:                                                                 " 0",
		`{"type":"bash_20250124","name":"bash"}`:                                                                         " 1",
		`{"type":"text_editor_20250728","name":"str_replace_based_edit_tool"}`:                                           " 1",
		`{"type":"memory_20250818","name":"memory"}`:                                                                     " 1",
		`{"type":"computer_20251124","name":"computer"}`:                                                                 " 1",
		`{"type":"web_search_20250305","name":"web_search"}`:                                                             "web_search_20250305 0",
		`{"type":"web_fetch_20250910","name":"web_fetch"}`:                                                               "web_fetch_20250910 0",
		`{"type":"code_execution_20250825","name":"code_execution"}`:                                                     "code_execution_20250825 0",
		`{"type":"tool_search_tool_regex_20251119","name":"x"}`:                                                          "tool_search_tool_regex_20251119 0",
		`{"type":"mcp_toolset","mcp_server_name":"x"}`:                                                                   "mcp_toolset 0",
		`{"type":"function","function":{"name":"f"}}`:                                                                    "function 0",
		`{"type":"computer_session_20270101","name":"x"}`:                                                                "computer_session_20270101 0",
		`{"type":"something_new","name":"x"}`:                                                                            "something_new 0",
		`{"Type":"web_search_20250305","name":"x"}`:                                                                      "web_search_20250305 0",
		`{"type":null,"name":"x"}`:                                                                                       "a tool without a type 0",
		`{"type":"custom","type":"web_search_20250305","name":"x"}`:                                                      "web_search_20250305 0",
	} {
		refs, err := params.MessagesReferences(strict(t, `{"tools":[`+tool+`],"tool_choice":{"type":"tool","name":"f"}}`))
		if got := fmt.Sprintf("%s %d", refs.Tools.Hosted, refs.Tools.BuiltIn); err != nil || got != want || refs.Tools.Count != 1 {
			t.Errorf("%s: %q, %v, want %q", tool, got, err, want)
		}
	}
	for body, want := range map[string]string{
		`{"mcp_servers":[{"type":"url","url":"https://x"}]}`: "mcp_servers",
		`{"mcp_servers":[]}`:          "",
		`{"container":"container_1"}`: "container",
		`{"Container":{"skills":[]}}`: "container",
		`{"container":null}`:          "",
		`{"messages":[{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}]}]}`: "",
	} {
		if refs, err := params.MessagesReferences(strict(t, body)); err != nil || refs.Tools.Hosted != want {
			t.Errorf("%s: %q, %v, want %q", body, refs.Tools.Hosted, err, want)
		}
	}
}

func TestStoredStateOfMessages(t *testing.T) {
	for body, want := range map[string]params.Ref{
		`{"container":"container_1"}`:                       {Param: "container", Kind: openai.KindContainer, ID: "container_1"},
		`{"container":{"id":"container_1","skills":null}}`:  {Param: "container.id", Kind: openai.KindContainer, ID: "container_1"},
		`{"container":{"skills":[{"skill_id":"skill_1"}]}}`: {Param: "container.skill_id", Kind: openai.KindSkill, ID: "skill_1"},
		`{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"file_1"}}]}]}`: {Param: "messages.file_id", Kind: openai.KindFile, ID: "file_1"},
		`{"messages":[{"role":"user","content":[{"type":"container_upload","file_id":"file_1"}]}]}`:                  {Param: "messages.file_id", Kind: openai.KindFile, ID: "file_1"},
	} {
		refs, err := params.MessagesReferences(strict(t, body))
		if err != nil || len(refs.IDs) != 1 || refs.IDs[0] != want {
			t.Errorf("%s: %+v, %v", body, refs.IDs, err)
		}
	}
	for _, body := range []string{`{"container":7}`, `{"container":{"id":7}}`, `{"container":""}`} {
		if _, err := params.MessagesReferences(strict(t, body)); apierror.From(err).HTTPStatus() != 400 {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestContentOfMessages(t *testing.T) {
	for body, want := range map[string]params.Content{
		`{"model":"m","max_tokens":1,"system":"s","messages":[],"thinking":{"type":"adaptive"},"output_config":{"effort":"low"},"metadata":{"user_id":"u"},"stop_sequences":[],"top_k":1,"tools":[],"cache_control":{"type":"ephemeral"}}`: {},
		`{"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral","ttl":"1h"}}]}`:         {},
		`{"system":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}`: {Images: 1, Encoded: 56},
		`{"system":[{"type":"video"}]}`: {Unpriced: "video"},
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"https://x/a.png"}}]}]}]}`: {Images: 1, Encoded: 38},
		`{"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AA"}}]}]}`:                             {Unpriced: "file"},
		`{"speed":"fast","messages":[]}`:                                         {Unpriced: "speed"},
		`{"inference_geo":"us","messages":[]}`:                                   {Unpriced: "inference_geo"},
		`{"fallbacks":[{"model":"a/b"}]}`:                                        {}, // the gateway asks them itself
		`{"output_format":{"type":"json_schema","schema":{}}}`:                   {}, // the older name of output_config.format
		`{"service_tier":"priority","messages":[]}`:                              {Unpriced: "service_tier"},
		`{"service_tier":"standard_only"}`:                                       {},
		`{"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]}}`: {},
		`{"context_management":{"edits":[{"type":"compact_20260112"}]}}`:         {Unpriced: "context_management"},
	} {
		b := strict(t, body)
		got := params.MessagesContentOf(b, nil)
		got.Unpriced = cmp.Or(got.Unpriced, params.MessagesFields.Unknown(b))
		if got != want {
			t.Errorf("%s: %+v, want %+v", body, got, want)
		}
	}
}

func TestABetaCanLengthenTheWindow(t *testing.T) {
	b := strict(t, `{"messages":[]}`)
	for beta, want := range map[string]bool{
		"context-1m-2025-08-07": true,
		"Context-2M":            true,
		"context-management-2025-06-27, context-1m-2025-08-07": true,
		"context-management-2025-06-27":                        false,
		"":                                                     false,
	} {
		if got := params.MessagesContentOf(b, []string{"other", beta}).LongWindow; got != want {
			t.Errorf("%q: %v", beta, got)
		}
	}
	if got := params.ChatFields.Unknown(strict(t, `{"fallbacks":["dear"]}`)); got != "fallbacks" { // a chat provider gets them
		t.Errorf("%+v", got)
	}
}
