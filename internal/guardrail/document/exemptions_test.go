package document_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// data returns base64 of n characters that also are words.
func data(n int) string { return strings.Repeat("forbidden/", n/10+1)[:n] }

func TestWhatOnlyNamesOrEncodesIsNotRead(t *testing.T) {
	for _, body := range []string{
		`{"model":"forbidden","models":["a/forbidden"],"previous_response_id":"forbidden.1","prompt_cache_key":"forbidden-2"}`,
		`{"messages":[{"role":"tool","tool_call_id":"call-forbidden-1","content":"x"},{"tool_calls":[{"id":"forbidden:0","type":"function"}]}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,` + data(40) + `","detail":"auto"}}]}]}`,
		`{"messages":[{"content":[{"image_url":{"url":"data:image\/png;base64,` + strings.ReplaceAll(data(40), "/", `\/`) + `"}}]}]}`,
		`{"messages":[{"content":[{"input_audio":{"data":"` + data(32) + `"}},{"file":{"file_data":"data:application/pdf;base64,` + data(32) + `","file_id":"forbidden.1"}}]}]}`,
		`{"input":[{"type":"reasoning","id":"forbidden.1","encrypted_content":"` + data(99) + `"},{"type":"message","content":[{"file_id":"forbidden.1"}]}]}`,
		`{"input":[{"result":"` + data(2000) + `","type":"image_generation_call"},{"output":{"type":"computer_screenshot","image_url":"data:image/png;base64,` + data(50) + `"}}]}`,
		`{"input":[{"call_id":"forbidden|1","output":[{"type":"input_image","image_url":"data:image/png;base64,` + data(50) + `"}]}]}`,
	} {
		if list := texts(t, body, false, false); mention(list, "forbidden") {
			t.Errorf("%.120s: %.120q", body, list)
		}
	}
	signed := `{"tool_calls":[{"index":0,"extra_content":{"google":{"thought_signature":"` + data(40) + `"}}}]}`
	if list := texts(t, `{"messages":[`+signed+`]}`, false, false); mention(list, "forbidden") {
		t.Errorf("a signature in a request: %q", list)
	}
	if list := texts(t, `{"choices":[{"message":`+signed+`}]}`, true, false); mention(list, "forbidden") {
		t.Errorf("a signature in an answer: %q", list)
	}
	for _, delta := range []string{signed, `{"audio":{"id":"a","data":"forbidden"}}`} {
		event := `{"choices":[{"index":0,"delta":` + delta + `}]}`
		if list := texts(t, event, true, true); mention(list, "forbidden") {
			t.Errorf("%s: %q", event, list)
		}
	}
	// Words of the APIs are not read, so they may be on a list of words.
	for _, word := range []string{"tool", "function", "auto", "stop", "completed"} {
		body := `{"tool_choice":"auto","messages":[{"role":"tool","content":"x"},{"tool_calls":[{"type":"function"}]}],"input":[{"status":"completed"}]}`
		if list := texts(t, body, false, false); mention(list, word) {
			t.Errorf("request, %s: %q", word, list)
		}
		body = `{"object":"chat.completion","choices":[{"finish_reason":"stop","message":{"role":"tool","tool_calls":[{"type":"function"}]}}],"output":[{"status":"completed"}]}`
		if list := texts(t, body, true, false); mention(list, word) {
			t.Errorf("answer, %s: %q", word, list)
		}
	}
}

// mention reports whether a word is in one of the texts.
func mention(list []string, word string) bool {
	return slices.ContainsFunc(list, func(text string) bool { return strings.Contains(text, word) })
}

func TestNoMemberHidesAText(t *testing.T) {
	for _, body := range []string{
		`{"messages":[{"role":"forbidden","content":"x"}]}`,
		`{"messages":[{"role":"tool","tool_call_id":"forbidden","content":"x"}]}`,
		`{"messages":[{"role":"tool","tool_call_id":"a forbidden 1","content":"x"}]}`,
		`{"messages":[{"role":"tool","tool_call_id":"4111111111111111","content":"x"}]}`,
		`{"messages":[{"role":"tool","tool_call_id":"1-forbidden-` + data(128) + `","content":"x"}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"https://x.example/1?q=forbidden"}}]}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:text/plain,forbidden"}}]}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"data:` + data(200) + `"}}]}]}`,
		`{"messages":[{"content":[{"type":"image_url","image_url":{"url":"x","detail":"forbidden","more":["forbidden"]}}]}]}`,
		`{"messages":[{"content":[{"input_audio":{"data":"forbidden"}}]}]}`,
		`{"messages":[{"tool_calls":[{"extra_content":{"google":{"thought_signature":"forbidden"}}}]}]}`,
		`{"messages":[{"tool_calls":[{"extra_content":{"google":{"thought":"` + data(40) + `"}}}]}]}`,
		`{"documents":[{"id":"forbidden-1","detail":"auto"}]}`,
		`{"chat_template_kwargs":{"detail":"forbidden"}}`,
		`{"chat_template_kwargs":{"image_url":{"url":["forbidden"]}}}`,
		`{"input":[{"type":"file_search_call","results":[{"attributes":{"status":"forbidden"},"text":"x"}]}]}`,
		`{"input":[{"type":"mcp_list_tools","tools":[{"annotations":{"detail":"forbidden"}}]}]}`,
		`{"input":[{"type":"image_generation_call","result":"` + data(99) + `"}]}`,
		`{"input":"x","prompt_cache_key":"forbidden"}`,
		`{"input":"x","provider":{"order":["forbidden"]}}`,
		`{"input":"x","session_id":{"id":"forbidden"}}`,
	} {
		if list := texts(t, body, false, false); !mention(list, "forbidden") && !mention(list, "4111") {
			t.Errorf("%.120s: only %q is read", body, list)
		}
	}
}

func TestOnlyAResponseRepeatsItsRequest(t *testing.T) {
	for _, key := range []string{"text", "reasoning", "prompt", "input", "instructions"} {
		for object, passes := range map[string]bool{"response": true, "chat.completion": false} {
			body := fmt.Sprintf(`{"%s":{"a":"forbidden"},"object":"%s"}`, key, object)
			if list := texts(t, body, true, false); mention(list, "forbidden") == passes {
				t.Errorf("%s: %q", body, list)
			}
			event := `{"type":"response.created","response":` + body + `}`
			if list := texts(t, event, true, true); mention(list, "forbidden") == passes {
				t.Errorf("%s: %q", event, list)
			}
		}
		event := `{"type":"response.created","object":"response","` + key + `":"forbidden"}`
		if list := texts(t, event, true, true); !mention(list, "forbidden") {
			t.Errorf("%s: only %q is read", event, list)
		}
	}
}
