package document_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/detect"
)

func TestWhatOnlyNamesOrEncodesInAMessagesCallIsNotRead(t *testing.T) {
	for _, body := range []string{
		`{"container":"container_forbidden1","fallbacks":[{"model":"claude-forbidden"}],"messages":[]}`,
		`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data(40) + `"}}]}]}`,
		`{"messages":[{"content":[{"type":"document","source":{"data":"` + data(40) + `","type":"base64"}}]}]}`,
		`{"messages":[{"content":[{"type":"image","source":{"type":"file","file_id":"file_forbidden1"}},{"type":"container_upload","file_id":"file_forbidden1"}]}]}`,
		`{"messages":[{"content":[{"type":"tool_use","id":"toolu_forbidden1"},{"type":"tool_result","tool_use_id":"toolu_forbidden1"}]}]}`,
		`{"messages":[{"content":[{"type":"tool_result","content":[{"type":"image","source":{"type":"base64","data":"` + data(40) + `"}}]}]}]}`,
		`{"messages":[{"content":[{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"base64","data":"` + data(40) + `"}}]}}]}]}`,
		`{"messages":[{"content":[{"type":"thinking","thinking":"x","signature":"` + data(40) + `"},{"type":"redacted_thinking","data":"` + data(40) + `"}]}]}`,
		`{"messages":[{"content":[{"type":"web_search_tool_result","content":[{"type":"web_search_result","encrypted_content":"` + data(40) + `"}]}]}]}`,
		`{"messages":[{"content":[{"type":"text","text":"x","citations":[{"type":"web_search_result_location","encrypted_index":"` + data(40) + `"}]}]}]}`,
	} {
		if list := texts(t, body, false, false); mention(list, "forbidden") {
			t.Errorf("%.120s: %.120q", body, list)
		}
	}
	for _, body := range []string{
		`{"id":"msg_forbidden","model":"forbidden","container":{"id":"forbidden"},"content":[{"type":"tool_use","id":"toolu_forbidden"},{"type":"thinking","signature":"` + data(40) + `"},{"type":"redacted_thinking","data":"` + data(40) + `"}]}`,
		`{"content":[{"type":"web_fetch_tool_result","content":{"type":"web_fetch_result","content":{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + data(40) + `"}}}}]}`,
		`{"type":"message_start","message":{"id":"msg_forbidden","model":"forbidden"}}`,
		`{"type":"content_block_start","content_block":{"type":"tool_use","id":"toolu_forbidden"}}`,
		`{"type":"content_block_start","content_block":{"type":"redacted_thinking","data":"` + data(40) + `"}}`,
		`{"type":"content_block_delta","delta":{"type":"signature_delta","signature":"` + data(40) + `"}}`,
		`{"type":"content_block_delta","delta":{"type":"citations_delta","citation":{"type":"a_b","encrypted_index":"` + data(40) + `"}}}`,
		`{"object":"list","model":"forbidden","data":[{"object":"embedding","embedding":"` + data(400) + `"}]}`,
	} {
		if list := texts(t, body, true, false); mention(list, "forbidden") {
			t.Errorf("%.120s: %.120q", body, list)
		}
	}
}

// Words of the API may be on a list of words.
func TestWordsOfTheMessagesAPIAreNotRead(t *testing.T) {
	request := `{"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"max","format":{"type":"json_schema"}},"tool_choice":{"type":"any"},
		"cache_control":{"type":"ephemeral","ttl":"1h"},"system":[{"type":"text","cache_control":{"type":"ephemeral","ttl":"5m"}}],
		"tools":[{"type":"custom","cache_control":{"type":"ephemeral"},"allowed_callers":["direct"]}],"encoding_format":"base64",
		"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf"},"cache_control":{"type":"ephemeral"}},
			{"type":"tool_result","content":[{"type":"image","source":{"type":"url","media_type":"image/png"}},{"type":"tool_reference"}]}]},
			{"role":"assistant","content":[{"type":"thinking"},{"type":"tool_use","caller":{"type":"direct"}}]}]}`
	if list := texts(t, request, false, false); len(list) > 0 {
		t.Errorf("of a request: %q", list)
	}
	for _, answer := range []string{
		`{"type":"message","role":"assistant","content":[{"type":"thinking"},{"type":"text","citations":[{"type":"char_location"}]}],"stop_reason":"refusal","stop_details":{"type":"refusal"},"usage":{"service_tier":"standard"}}`,
		`{"type":"message_start","message":{"type":"message","role":"assistant","usage":{"service_tier":"standard"}}}`,
		`{"type":"content_block_start","content_block":{"type":"thinking"}}`,
		`{"type":"content_block_delta","delta":{"type":"text_delta"}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`,
	} {
		if list := texts(t, answer, true, false); len(list) > 0 {
			t.Errorf("%s: %q", answer, list)
		}
	}
}

func TestNoMemberOfAMessagesCallHidesAText(t *testing.T) {
	source := `{"messages":[{"content":[{"type":"document","source":{%s}}]}]}`
	long := `"data":"` + data(40) + `"`
	for _, body := range []string{
		`{"system":"forbidden"}`, `{"system":[{"type":"text","text":"forbidden"}]}`, `{"system":[{"type":"forbidden"}]}`,
		`{"messages":[{"content":[{"type":"tool_result","content":"forbidden"}]}]}`,
		`{"messages":[{"content":[{"type":"tool_result","content":[{"type":"search_result","source":"forbidden","content":[{"text":"x"}]}]}]}]}`,
		`{"messages":[{"content":[{"type":"thinking","thinking":"forbidden"}]}]}`,
		`{"messages":[{"content":[{"type":"thinking","signature":"forbidden"}]}]}`,
		`{"messages":[{"content":[{"type":"redacted_thinking","data":"forbidden"}]}]}`,
		`{"messages":[{"content":[{"type":"text",` + long + `}]}]}`,
		`{"messages":[{"content":[{"type":"document","title":"forbidden","context":"x"}]}]}`,
		`{"messages":[{"content":[{"type":"tool_use","id":"a forbidden 1"}]}]}`,
		fmt.Sprintf(source, `"type":"text",`+long), fmt.Sprintf(source, long), fmt.Sprintf(source, long+`,"type":"text"`),
		fmt.Sprintf(source, `"type":["base64"],`+long), fmt.Sprintf(source, `"type":"base64","data":["`+data(40)+`"]`),
		fmt.Sprintf(source, `"type":"base64","data":"forbidden"`), fmt.Sprintf(source, `"type":"base64","media_type":"text/forbidden"`),
		`{"tools":[{"name":"f","input_schema":{"properties":{"a":{"description":"forbidden"}}},"input_examples":[{"a":"x","A":"y"}]}]}`,
		`{"stop_sequences":["forbidden"],"metadata":{"user_id":"forbidden"}}`,
		`{"mcp_servers":[{"type":"url","authorization_token":"forbidden"}]}`,
		`{"model":"m","input":"forbidden"}`, `{"model":"m","input":["a","forbidden"]}`,
		`{"extra_body":{"note":"forbidden"},"messages":[]}`, `{"extra_body":{"messages":[{"content":[{"source":{"type":"base64",` + long + `}}]}]}}`,
	} {
		if list := texts(t, body, false, false); !mention(list, "forbidden") {
			t.Errorf("%.120s: only %q is read", body, list)
		}
	}
	// An answer may repeat a key, and a client takes one of them.
	for _, types := range []string{`"type":"base64","type":"text"`, `"type":"text","type":"base64"`} {
		if list := texts(t, `{"content":[{"source":{`+types+`,`+long+`}}]}`, true, false); !mention(list, "forbidden") {
			t.Errorf("%s: only %q is read", types, list)
		}
	}
	if list := texts(t, `{"model":"m","input":[[1,2],[3]]}`, false, false); len(list) > 0 {
		t.Errorf("of tokens: %q", list)
	}
}

// The input of a tool call is an object, and is read as arguments are.
func TestTheInputOfAToolCallIsReadAsJSON(t *testing.T) {
	rules := []detect.Rule{{Detector: must(detect.Email()), Mark: "[email]"}, {Detector: must(detect.Card()), Mark: "[card]"}}
	const call = `{"type":"tool_use","name":"f","input":%s}`
	for input, want := range map[string]string{
		`{ "to": "ann@b.de",  "n":12 }`:               `{ "to": "[email]",  "n":12 }`,
		`{"ann@b.de":[4111111111111111,{"a":true}]}`:  `{"[email]":["[card]",{"a":true}]}`,
		`{"a":"ann\u0040b.de","A":"x","input":["y"]}`: `{"a":"[email]","A":"x","input":["y"]}`,
		`4111111111111111`:                            `"[card]"`,
		`"{\"a\":\"ann\\u0040b.de\"}"`:                `"{\"a\":\"[email]\"}"`,
		`{"signature":"` + data(40) + `","a":"b"}`:    "",
		`{}`: "",
	} {
		for form, answer := range map[string]bool{
			`{"messages":[{"content":[` + call + `]}]}`:                     false,
			`{"content":[` + call + `]}`:                                    true,
			`{"type":"content_block_start","content_block":` + call + `}`:   true,
			`{"type":"message_start","message":{"content":[` + call + `]}}`: true,
		} {
			edited := ""
			if want != "" {
				edited = fmt.Sprintf(form, want)
			}
			if got, err := judge(t, rules, fmt.Sprintf(form, input), answer); err != nil || got != edited {
				t.Errorf(form+"\ngot %s\n%v", input, got, err)
			}
		}
	}
	// Elsewhere input is a member like others.
	if list := texts(t, `{"input":[{"input":{"a":"b","c":1}}]}`, false, false); strings.Join(list, "|") != "b" {
		t.Errorf("of a Responses request: %q", list)
	}
}

// A changed text no longer fits its signature, and the provider would refuse it when it comes back.
func TestSignaturesOfChangedTextsAreEmptied(t *testing.T) {
	signed, unsigned := `"signature":"`+data(40)+`"`, `"signature":""`
	const block = `{"type":"thinking","thinking":"%s",%s}`
	changed, kept := fmt.Sprintf(block, "ask ann@b.de", signed), fmt.Sprintf(block, "ask", signed)
	emptied := fmt.Sprintf(block, "ask [REDACTED:email]", unsigned)
	for body, answer := range map[string]bool{
		`{"messages":[{"content":[%s,%s,{"type":"text","text":"%s"}]}]}`:         false,
		`{"messages":[{"reasoning_details":[%s,%s]},{"content":"%s"}]}`:          false,
		`{"content":[%s,%s,{"type":"text","text":"%s"}]}`:                        true,
		`{"choices":[{"message":{"reasoning_details":[%s,%s],"content":"%s"}}]}`: true,
	} {
		want := fmt.Sprintf(body, emptied, kept, "to [REDACTED:email]")
		if got, err := judge(t, house, fmt.Sprintf(body, changed, kept, "to ann@b.de"), answer); err != nil || got != want {
			t.Errorf("got  %s\nwant %s\n%v", got, want, err)
		}
	}
	for _, body := range []string{ // not a signature, or of nothing that changed
		`{"messages":[{"content":"%s"}],"extra_body":{"text":"%s",` + signed + `}}`,
		`{"messages":[{"content":[{"type":"tool_use","input":{"text":"%s",` + signed + `}}]}],"user":"%s"}`,
	} {
		if got, err := judge(t, house, fmt.Sprintf(body, "ann@b.de", "ann@b.de"), false); err != nil || got != fmt.Sprintf(body, "[REDACTED:email]", "[REDACTED:email]") {
			t.Errorf("got %s, %v", got, err)
		}
	}
}
