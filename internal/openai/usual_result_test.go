package openai_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

// FuzzUsualResult holds the short way of ChatResult to the repair, which ShapedResult always takes.
func FuzzUsualResult(f *testing.F) {
	f.Add([]byte(answer))
	for _, change := range [][2]string{
		{`"id":"`, `"id":"","id":"`}, {`"id":"`, `"\u0069d":"`}, {`"id":"`, `"id":"\u00e9`}, {`"id":"`, `"id":"` + strings.Repeat("x", 300)}, {`"object":"chat.completion"`, `"object":"error"`},
		{`"created":1`, `"created":-1`}, {`"created":1`, `"created":1.`}, {`"model":"`, `"model":null,"x":"`}, {`"model":"`, `"model":"y","model":"`},
		{`"index":0`, `"index":1`}, {`"index":0`, `"index":0,"index":0`}, {`"index":0`, `"index":0,"error":null`}, {`"index":0`, `"index":0,"error":"x"`},
		{`"role":"assistant"`, `"role":"model"`}, {`"content":`, `"text":`}, {`"content":`, `"content":null,"reasoning":`}, {`"content":`, `"content":"","reasoning_content":`},
		{`"role":"assistant"`, `"role":"assistant","tool_calls":[{}]`}, {`"role":"assistant"`, `"role":"assistant","tool_calls":null,"audio":null`},
		{`"role":"assistant"`, `"role":"assistant","audio":{"id":"a"}`}, {`"finish_reason":"stop"`, `"finish_reason":"eos"`}, {`"finish_reason":"stop"`, `"finish_reason":"error"`},
		{`"finish_reason":"stop"`, `"finish_reason":null`}, {`"finish_reason":"stop"`, `"finish_reason":"pause_turn"`}, {`"finish_reason":"stop"`, `"finish_reason":""`},
		{`"choices":[`, `"choices":[{"message":{}},`}, {`"choices":[`, `"choices":[5,`}, {`"choices":[`, `"choices":[],"choices":[`}, {`"usage":{`, `"usage":null,"usage":{`},
		{`"usage":{`, `"usage":[],"x":{`}, {`"prompt_tokens":`, `"prompt_tokens":-`}, {`{`, "\n { \"error\":null,"}, {`{`, `{"error":{"message":"x"},`}, {`}`, `} `}, {`{`, ``},
	} {
		f.Add([]byte(strings.Replace(answer, change[0], change[1], 1)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		var ids, wantIDs []string
		call := newCall()
		call.OnID = func(kind openai.Kind, id string) { ids = append(ids, id) }
		got, sum, err := openai.ChatResult([]byte("kept"), body, call)
		call.OnID = func(kind openai.Kind, id string) { wantIDs = append(wantIDs, id) }
		want, wantSum, wantErr := openai.ShapedResult([]byte("kept"), body, call, openai.Shape{})
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) || !reflect.DeepEqual(ids, wantIDs) {
			t.Fatalf("%s\n got  %s, %v, %v\n want %s, %v, %v", body, got, ids, err, want, wantIDs, wantErr)
		}
		if sum.Err, wantSum.Err = nil, nil; sum != wantSum {
			t.Fatalf("%s\n got  %+v\n want %+v", body, sum, wantSum)
		}
		if !bytes.Equal(body, before) {
			t.Fatal("the body was written to")
		}
	})
}
