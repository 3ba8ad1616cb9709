package openrouter_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

func upstream(t *testing.T, in string, isOpenRouter bool) (string, error) {
	t.Helper()
	var b jsonscan.Body
	if err := b.Parse([]byte(in)); err != nil {
		t.Fatal(err)
	}
	req, err := params.ParseChat(&b)
	if err != nil {
		t.Fatal(err)
	}
	params.EncodeChat(&b, req, "m", false)
	err = openrouter.EncodeChatFields(&b, req, isOpenRouter)
	return string(b.Append(nil)), err
}

func TestOpenRouterFieldsReachOpenRouterAlone(t *testing.T) {
	in := `{"usage":{"include":true},"model":"p/m","provider":{"order":["x"]},"models":["y"],"route":"fallback","plugins":[{"id":"web"}],"transforms":[],` +
		`"session_id":"s","trace":{},"reasoning":{"effort":"low"},"top_a":1,"cache_control":{},"image_config":{},"debug":{},"stop_server_tools_when":[],"include_reasoning":true,` +
		`"top_k":4,"min_p":0.1,"repetition_penalty":1.1,"temperature":1,"messages":[],"stream":false,"stream_options":{"include_usage":true}}`
	got, err := upstream(t, in, false)
	if want := `{"model":"m","top_k":4,"min_p":0.1,"repetition_penalty":1.1,"temperature":1,"messages":[],"stream":false,"reasoning_effort":"low"}`; got != want || err != nil {
		t.Errorf("others\n got  %s %v\n want %s", got, err, want)
	}
	got, err = upstream(t, in, true)
	want := `{"usage":{"include":true},"model":"m","provider":{"order":["x"]},"plugins":[{"id":"web"}],"transforms":[],` +
		`"session_id":"s","trace":{},"reasoning":{"effort":"low"},"top_a":1,"cache_control":{},"image_config":{},"debug":{},"stop_server_tools_when":[],"include_reasoning":true,` +
		`"top_k":4,"min_p":0.1,"repetition_penalty":1.1,"temperature":1,"messages":[],"stream":false}`
	if got != want || err != nil {
		t.Errorf("openrouter\n got  %s %v\n want %s", got, err, want)
	}
}

func TestReasoningEffortOfTheCallerStays(t *testing.T) {
	for in, want := range map[string]string{
		`{"model":"p/m","messages":[],"reasoning":{"effort":"low"},"reasoning_effort":"high"}`: `{"model":"m","messages":[],"reasoning_effort":"high"}`,
		`{"model":"p/m","messages":[],"reasoning":{"max_tokens":5}}`:                           `{"model":"m","messages":[]}`,
		`{"model":"p/m","messages":[],"reasoning":null}`:                                       `{"model":"m","messages":[]}`,
	} {
		if got, err := upstream(t, in, false); got != want || err != nil {
			t.Errorf("got  %s %v\nwant %s", got, err, want)
		}
	}
}

func TestAPresetIsRefused(t *testing.T) {
	for _, isOpenRouter := range []bool{true, false} {
		_, err := upstream(t, `{"model":"p/m","messages":[],"preset":"x"}`, isOpenRouter)
		if e := apierror.From(err); err == nil || e.Code != apierror.UnsupportedParameter || e.Param != "preset" {
			t.Errorf("%v", err)
		}
	}
	if got, err := upstream(t, `{"model":"p/m","messages":[],"preset":null}`, true); err != nil || got != `{"model":"m","messages":[]}` {
		t.Errorf("%s %v", got, err)
	}
}
