package openai_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// A chunk of a translation reaches the client like the same chunk of a provider.
func TestAWrittenChunkIsLikeThatOfAProvider(t *testing.T) {
	const (
		role     = `"role":"assistant",`
		opening  = `"content":"","refusal":null`
		opened   = `"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":""}}]`
		fragment = `"tool_calls":[{"index":0,"function":{"arguments":"{"}}]`
		signed   = `"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"g","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]`
		custom   = `"tool_calls":[{"index":2,"id":"c","type":"custom","custom":{"name":"g","input":""}}]`
	)
	for _, head := range []struct{ id, created string }{{`"resp_1"`, "17"}, {`"resp_1"`, ""}, {"", "17.5"}, {"", ""}} {
		for name, w := range twins() {
			begin, end := "{", `,"finish_reason":null}]`
			d := openai.Delta{}
			if head.id != "" {
				begin, d.ID = begin+`"id":`+head.id+",", []byte(head.id)
			}
			if head.created != "" {
				begin, d.Created = begin+`"created":`+head.created+",", []byte(head.created)
			}
			begin += `"object":"chat.completion.chunk","choices":[{"index":0,"delta":{`
			check := func(d openai.Delta, members, rest string) {
				t.Helper()
				if d.Role {
					members = role + members
				}
				got := w.short.Write([]byte("x"), &d)
				want := w.long.Data([]byte("x"), openai.NewEvent(nil, []byte(begin+members+rest)))
				if string(got) != string(want) {
					t.Errorf("%s, %+v:\n got  %s\n want %s", name, head, got, want)
				}
			}
			none := `},"logprobs":null` + end + "}"
			cited := d
			cited.Annotations = []byte("[{}]")
			if name == "plain" || name == "second" {
				check(cited, `"annotations":[{}]`, none) // before the role
			}
			first := d
			first.Role, first.Content, first.Refusal = true, []byte(`""`), []byte("null")
			check(first, opening, none)
			text := d
			text.Content = []byte(`"a"`)
			check(text, `"content":"a"`, none)
			text.Logprobs = []byte(`{"content":[]}`)
			check(text, `"content":"a"`, `},"logprobs":{"content":[]}`+end+"}")
			thought := d
			thought.Reasoning = []byte(`"hm"`)
			check(thought, `"reasoning_content":"hm"`, none)
			sealed := d
			sealed.ReasoningDetails = []byte(`[{"signature":"s"}]`)
			check(sealed, `"reasoning_details":[{"signature":"s"}]`, none)
			pictured := d
			pictured.Images = []byte(`[{"type":"image_url"}]`)
			if name == "plain" || name == "second" { // other APIs have none
				check(pictured, `"images":[{"type":"image_url"}]`, none)
			}
			call := openai.CallDelta{Begin: true, ID: []byte(`"a"`), Name: []byte(`"f"`), Arguments: []byte(`""`)}
			begun := d
			begun.Call = &call
			check(begun, opened, none)
			call = openai.CallDelta{Arguments: []byte(`"{"`)}
			check(begun, fragment, none)
			call = openai.CallDelta{
				Index: 1, Begin: true, ID: []byte(`"b"`), Name: []byte(`"g"`), Arguments: []byte(`"{}"`),
				Extra: []byte(`{"google":{"thought_signature":"c2ln"}}`),
			}
			check(begun, signed, none)
			call = openai.CallDelta{Index: 2, Custom: true, Begin: true, ID: []byte(`"c"`), Name: []byte(`"g"`), Arguments: []byte(`""`)}
			check(begun, custom, none)
			last := d
			last.Finish, last.ServiceTier, last.Usage = "length", []byte(`"flex"`), []byte(usage)
			check(last, "", `},"logprobs":null,"finish_reason":"length"}],"service_tier":"flex","usage":`+usage+"}")
			if !w.short.Done() {
				t.Errorf("%s: not done", name)
			}
			w.long.Data(nil, openai.NewEvent(nil, []byte("[DONE]")))
			if got, want := w.short.Summary(), w.long.Summary(); got != want {
				t.Errorf("%s:\n got  %+v\n want %+v", name, got, want)
			}
			w.close(t)
		}
	}
}

func TestTooManyWrittenToolCallsFail(t *testing.T) {
	s := openai.NewChatStream(newCall())
	for range 513 {
		s.Write(nil, &openai.Delta{Call: &openai.CallDelta{Begin: true}})
	}
	if s.Summary().Err == nil || !s.Done() {
		t.Error("the answer goes on")
	}
}
