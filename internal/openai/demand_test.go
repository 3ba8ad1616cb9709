package openai_test

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
)

func TestDemandsAreRead(t *testing.T) {
	for body, want := range map[string]struct {
		messages        int
		choices, output int64
		param           string
	}{
		`{}`: {0, 1, 0, "max_completion_tokens"},
		`{"messages":[{},{}],"tools":[{},{},{}],"n":4,"max_tokens":9}`:          {2, 4, 9, "max_tokens"},
		`{"messages":[],"tools":null,"max_tokens":null,"n":null}`:               {0, 1, 0, "max_completion_tokens"},
		`{"messages":"x","max_tokens":9,"max_completion_tokens":5}`:             {1, 1, 9, "max_tokens"},
		`{"messages":[1],"max_tokens":9,"max_completion_tokens":10,"tools":{}}`: {1, 1, 10, "max_completion_tokens"},
	} {
		b, members := strict(t, body)
		d, err := openai.ChatDemand(b, members)
		if err != nil || d.Messages != want.messages || d.Choices != want.choices || d.Output != want.output || d.Param != want.param {
			t.Errorf("%s: %+v, %v", body, d, err)
		}
	}
	b, members := strict(t, `{"input":[1,2],"max_output_tokens":7,"n":99,"max_tokens":"x"}`)
	if d, err := openai.ResponsesDemand(b, members); err != nil || d.Messages != 2 || d.Output != 7 || d.Choices != 1 {
		t.Errorf("Responses: %+v, %v", d, err)
	}
	for body, param := range map[string]string{
		`{"n":0}`: "n", `{"n":129}`: "n", `{"n":1.5}`: "n", `{"n":"1"}`: "n",
		`{"max_tokens":0}`: "max_tokens", `{"max_completion_tokens":1e30}`: "max_completion_tokens", `{"max_tokens":true}`: "max_tokens",
	} {
		b, members := strict(t, body)
		if _, err := openai.ChatDemand(b, members); err == nil || apierror.From(err).Param != param || apierror.From(err).HTTPStatus() != 400 {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestACappedRequestSaysItOnce(t *testing.T) {
	for _, c := range []struct{ body, field, want string }{
		{`{"model":"m"}`, "", `{"model":"m","max_completion_tokens":5}`},
		{`{"model":"m"}`, "max_tokens", `{"model":"m","max_tokens":5}`},
		{`{"max_tokens":9,"model":"m"}`, "", `{"max_tokens":5,"model":"m"}`},
		{`{"max_tokens":9,"model":"m","max_completion_tokens":10}`, "", `{"model":"m","max_completion_tokens":5}`},
		{`{"max_completion_tokens":10,"model":"m"}`, "max_tokens", `{"model":"m","max_tokens":5}`},
		{`{"max_tokens":null,"model":"m"}`, "", `{"model":"m","max_completion_tokens":5}`},
	} {
		b, members := strict(t, c.body)
		d, err := openai.ChatDemand(b, members)
		if err != nil {
			t.Fatal(err)
		}
		p := jsonscan.NewPatch(b, members)
		d.CapOutput(p, b, members, c.field, 5)
		if got := p.Append(nil); !json.Valid(got) || string(got) != c.want {
			t.Errorf("%s, field %q: %s, want %s", c.body, c.field, got, c.want)
		}
	}
}

func FuzzContentAndDemand(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"image_url"}]}],"max_tokens":4,"tools":[]}`))
	f.Add([]byte(`{"input":[{"type":"function_call_output","output":[{"type":"input_image"}]}],"n":2}`))
	f.Add([]byte(`{"messages":[{"content":[{"type":"image","source":{"content":[{"image_url":"data:image/png,B"}],"url":""}}]}]}`))
	f.Add([]byte(`{"messages":[{"source":{"type":"content","content":[{"type":"image","source":{"data":"A"}}]}}],"thinking_budget":9}`))
	f.Add([]byte(`{"input":[{"output":{"image_url":{"url":"data:image/png,B","url":"data:image/gif,C"}}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		members, err := jsonscan.Strict(body, nil)
		if err != nil {
			return
		}
		c, size := openai.ContentOf(body, members), int64(len(body))
		if c.Images < 0 || c.Images > size || c.Encoded < 0 || c.Encoded > size || c.Prediction < 0 || c.Prediction > size || c.Thinking < 0 {
			t.Fatalf("%+v", c)
		}
		d, err := openai.ChatDemand(body, members)
		if err != nil {
			return
		}
		p := jsonscan.NewPatch(body, members)
		d.CapOutput(p, body, members, "", 3)
		again, err := jsonscan.Strict(p.Append(nil), nil)
		if err != nil {
			t.Fatalf("%q became %q: %v", body, p.Append(nil), err)
		}
		capped, err := openai.ChatDemand(p.Append(nil), again)
		if err != nil || capped.Output != 3 || capped.Messages != d.Messages {
			t.Fatalf("%q became %q: %+v, %v", body, p.Append(nil), capped, err)
		}
	})
}
