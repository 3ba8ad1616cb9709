package params_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

func refs(t testing.TB, body string) (string, params.Refs, error) {
	t.Helper()
	b := strict(t, body)
	r, err := params.References(b)
	var all []string
	for _, ref := range r.IDs {
		all = append(all, fmt.Sprintf("%s %s=%s", ref.Param, ref.Kind, ref.ID))
	}
	return strings.Join(all, ", "), r, err
}

func TestEveryWayToNameStoredState(t *testing.T) {
	for body, want := range map[string]string{
		`{"previous_response_id":"r1"}`:                                                                      "previous_response_id response=r1",
		`{"conversation":"c1"}`:                                                                              "conversation conversation=c1",
		`{"conversation":{"id":"c1"}}`:                                                                       "conversation.id conversation=c1",
		`{"prompt":{"id":"p1","version":"2"}}`:                                                               "prompt.id prompt=p1",
		`{"input":[{"type":"item_reference","id":"i1"}]}`:                                                    "input.id item=i1",
		`{"input":[{"id":"i1","type":"item_\u0072eference"}]}`:                                               "input.id item=i1",
		`{"input":[{"type":"reasoning","id":"rs_1","summary":[]}]}`:                                          "input.id item=rs_1",
		`{"input":[{"type":"reasoning","id":"rs_1","encrypted_content":null}]}`:                              "input.id item=rs_1",
		`{"input":[{"id":"msg_1"}]}`:                                                                         "input.id item=msg_1",
		`{"input":[{"id":"msg_1","type":null}]}`:                                                             "input.id item=msg_1",
		`{"input":[{"id":"msg_1","type":""},{"id":"msg_2","type":{"a":"b"}}]}`:                               "input.id item=msg_1, input.id item=msg_2",
		`{"input":[{"type":"message","id":"msg_1","type":null}]}`:                                            "input.id item=msg_1",
		`{"input":[{"Type":"message","id":"msg_1"},{"id":"msg_2","Role":"user","content":"x"}]}`:             "input.id item=msg_1, input.id item=msg_2",
		`{"input":[{"id":"msg_1","role":"user"},{"id":"msg_2","role":"user","content":null}]}`:               "input.id item=msg_1, input.id item=msg_2",
		`{"input":[{"type":"reasoning","id":"rs_1","Encrypted_Content":"x"}]}`:                               "input.id item=rs_1",
		`{"input":[{"type":"image_generation_call","id":"ig_1"}]}`:                                           "input.id item=ig_1",
		`{"input":[{"role":"user","content":[{"type":"input_file","file_id":"f1"}]}]}`:                       "input.file_id file=f1",
		`{"input":[{"role":"user","content":[{"type":"input_image","file\u005fid":"f1"}]}]}`:                 "input.file_id file=f1",
		`{"input":[{"type":"function_call_output","output":[{"type":"input_file","File_ID":"f1"}]}]}`:        "input.file_id file=f1",
		`{"messages":[{"role":"user","content":[{"type":"file","file":{"file_id":"f1"}}]}]}`:                 "messages.file_id file=f1",
		`{"messages":[{"role":"assistant","audio":{"id":"a1"}}]}`:                                            "messages.audio.id audio=a1",
		`{"tools":[{"type":"file_search","vector_store_ids":["v1","v2"]}]}`:                                  "tools.vector_store_ids vector_store=v1, tools.vector_store_ids vector_store=v2",
		`{"tools":[{"type":"code_interpreter","container":"k1"}]}`:                                           "tools.container container=k1",
		`{"tools":[{"type":"code_interpreter","container":{"type":"auto","file_ids":["f1"]}}]}`:              "tools.file_ids file=f1",
		`{"tools":[{"type":"image_generation","input_image_mask":{"file_id":"f1"}}]}`:                        "tools.file_id file=f1",
		`{"tools":[{"type":"shell","environment":{"type":"container_reference","container_id":"k1"}}]}`:      "tools.container_id container=k1",
		`{"tools":[{"type":"shell","environment":{"skills":[{"type":"skill_reference","skill_id":"s1"}]}}]}`: "tools.skill_id skill=s1",
		`{"input":[{"type":"mcp_approval_response","approval_request_id":"m1","approve":true}]}`:             "input.approval_request_id item=m1",
		// Two of a kind, one of them in the spelling of another decoder.
		`{"input":[{"file_id":"f1","\u017fkill_id":"s1","file_id":"f2"}]}`: "input.file_id file=f1, input.skill_id skill=s1, input.file_id file=f2",
	} {
		got, _, err := refs(t, body)
		if err != nil || got != want {
			t.Errorf("%s\n got  %s %v\n want %s", body, got, err, want)
		}
	}
}

func TestWhatIsNoReference(t *testing.T) {
	for _, body := range []string{
		`{"previous_response_id":null,"conversation":null,"prompt":null,"background":false,"web_search_options":null}`,
		`{"input":"item_reference file_id","messages":null}`,
		`{"input":[{"role":"user","content":"\"file_id\":\"f1\""}]}`,
		`{"input":[{"type":"message","id":"msg_1","content":[]}]}`,
		`{"input":[{"id":"msg_1","role":"assistant","content":[]},{"content":"","role":"user","id":"msg_2"},{"id":null}]}`,
		`{"input":[{"id":"msg_1","t\u0079pe":"message","content":[{"id":"part_1"}]}]}`,
		`{"messages":[{"id":"m1","role":"user"}]}`,
		`{"input":[{"type":"reasoning","id":"rs_1","encrypted_content":"xyz","content":""}]}`,
		`{"input":[{"type":"function_call","id":"fc_1","call_id":"call_1","arguments":"{\"file_id\":\"f\"}"}]}`,
		`{"messages":[{"role":"assistant","audio":null,"tool_calls":[{"id":"call_1"}]},{"role":"tool","tool_call_id":"call_1"}]}`,
		`{"tools":[{"type":"function","name":"f","parameters":{"properties":{"file_id":{"type":"string"}},"examples":[{"file_id":"x"}]}}]}`,
		`{"tools":[{"type":"custom","name":"f"}],"metadata":{"file_id":"mine"}}`,
		`{"tools":[{"type":"function","function":{"name":"f"}}]}`,
	} {
		got, r, err := refs(t, body)
		if err != nil || got != "" || r.Background || r.Tools.Hosted != "" {
			t.Errorf("%s: %s %+v %v", body, got, r, err)
		}
	}
}

func TestBackgroundIsRead(t *testing.T) {
	if _, r, err := refs(t, `{"background":true}`); err != nil || !r.Background {
		t.Fatalf("%+v %v", r, err)
	}
}

func TestAReferenceThatCannotBeJudgedIsRefused(t *testing.T) {
	many := strings.Repeat(`{"file_id":"f"},`, 300) + `{}`
	for body, param := range map[string]string{
		`{"previous_response_id":5}`:                                  "previous_response_id",
		`{"previous_response_id":""}`:                                 "previous_response_id",
		`{"conversation":{}}`:                                         "conversation",
		`{"conversation":{"id":5}}`:                                   "conversation",
		`{"prompt":["p"]}`:                                            "prompt",
		`{"background":"yes"}`:                                        "background",
		`{"tools":{"type":"web_search"}}`:                             "tools",
		`{"input":[` + many + `]}`:                                    "input.file_id",
		`{"input":[{"type":"item_reference","id":"a","id":"b"}]}`:     "input.id",
		`{"previous_response_id":"` + strings.Repeat("r", 513) + `"}`: "previous_response_id",
	} {
		_, r, err := refs(t, body)
		e := apierror.From(err)
		if err == nil || e.Param != param || e.HTTPStatus() != 400 || r.IDs != nil {
			t.Errorf("%.60s: %v (param %q)", body, err, e.Param)
		}
	}
}

func TestLookingForReferencesCostsNoMemory(t *testing.T) {
	deep := strings.Repeat(`[`, 200) + strings.Repeat(`]`, 200)
	b := strict(t, `{"model":"m","messages":[{"role":"user","content":"`+strings.Repeat(`a \"word\" `, 2000)+`"},`+
		strings.Repeat(`{},`, 20000)+deep+`]}`)
	if n := testing.AllocsPerRun(20, func() {
		if _, err := params.References(b); err != nil {
			t.Fatal(err)
		}
	}); n > 1 {
		t.Fatalf("%v allocations", n)
	}
}

// FuzzReferences holds the walker to a decoder: whatever string encoding/json finds under a key
// that folds to file_id, at a depth providers read, is reported.
func FuzzReferences(f *testing.F) {
	for _, seed := range []string{`[{"file_id":"x"}]`, `[{"a":[{"FILE_ID":"x\\"}]}]`, `[1,null,{"b":{"file\u005fid":"\"y"}}]`, `["\\\"",{"file_id":"z"}]`, `{"t":true,"file_id":"q"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		body := append(append([]byte(`{"input":`), input...), '}')
		var b jsonscan.Body
		if b.Parse(body) != nil {
			return
		}
		got := map[string]bool{}
		r, err := params.References(&b)
		if err != nil {
			return
		}
		for _, ref := range r.IDs {
			got[ref.ID] = true
		}
		for _, id := range decodedFileIDs(body) {
			if id != "" && !got[id] {
				t.Fatalf("%s: %q not found in %v", body, id, r.IDs)
			}
		}
	})
}
