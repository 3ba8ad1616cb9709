package params_test

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/params"
)

// Servers know the limit of the output by other names, and some let those win.
func TestOtherNamesOfTheOutputLimitAreFound(t *testing.T) {
	for body, want := range map[string]string{
		`{"max_tokens":9,"max_completion_tokens":9,"temperature":1,"options":{"top_k":1}}`: "",
		`{"n_predict":9}`: "n_predict", `{"N_Predict":9}`: "N_Predict", `{"n_predict":null}`: "", `{"max_new_tokens":9}`: "max_new_tokens",
		`{"max_output_tokens":9}`: "max_output_tokens", `{"options":{"num_\u0070redict":9}}`: "options.num_predict", `{"generationConfig":{"maxOutputTokens":9}}`: "generationConfig.maxOutputTokens",
	} {
		if l, err := params.ChatLimits(strict(t, body)); err != nil || l.Other != want {
			t.Errorf("%s: %q, %v, want %q", body, l.Other, err, want)
		}
	}
	if l, err := params.ResponsesLimits(strict(t, `{"max_output_tokens":9,"max_tokens":10}`)); err != nil || l.Other != "max_tokens" {
		t.Errorf("Responses: %+v, %v", l, err)
	}
	if l, err := params.MessagesLimits(strict(t, `{"max_tokens":9,"max_tokens_to_sample":10}`)); err != nil || l.Other != "max_tokens_to_sample" {
		t.Errorf("Messages: %+v, %v", l, err)
	}
}

func TestLimitsAreRead(t *testing.T) {
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
		b := strict(t, body)
		l, err := params.ChatLimits(b)
		if err != nil || l.Messages != want.messages || l.Choices != want.choices || l.Output != want.output || l.Param != want.param {
			t.Errorf("%s: %+v, %v", body, l, err)
		}
	}
	b := strict(t, `{"input":[1,2],"max_output_tokens":7,"n":99,"max_tokens":"x"}`)
	if l, err := params.ResponsesLimits(b); err != nil || l.Messages != 2 || l.Output != 7 || l.Choices != 1 {
		t.Errorf("Responses: %+v, %v", l, err)
	}
	for body, param := range map[string]string{
		`{"n":0}`: "n", `{"n":129}`: "n", `{"n":1.5}`: "n", `{"n":"1"}`: "n",
		`{"max_tokens":0}`: "max_tokens", `{"max_completion_tokens":1e30}`: "max_completion_tokens", `{"max_tokens":true}`: "max_tokens",
	} {
		b := strict(t, body)
		if _, err := params.ChatLimits(b); err == nil || apierror.From(err).Param != param || apierror.From(err).HTTPStatus() != 400 {
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
		b := strict(t, c.body)
		l, err := params.ChatLimits(b)
		if err != nil {
			t.Fatal(err)
		}
		l.SetOutput(b, c.field, 5)
		if got := b.Append(nil); !json.Valid(got) || string(got) != c.want {
			t.Errorf("%s, field %q: %s, want %s", c.body, c.field, got, c.want)
		}
	}
}

func FuzzContentAndLimits(f *testing.F) {
	f.Add([]byte(`{"messages":[{"role":"user","content":[{"type":"image_url"}]}],"max_tokens":4,"tools":[]}`))
	f.Add([]byte(`{"input":[{"type":"function_call_output","output":[{"type":"input_image"}]}],"n":2}`))
	f.Add([]byte(`{"messages":[{"content":[{"type":"image","source":{"content":[{"image_url":"data:image/png,B"}],"url":""}}]}]}`))
	f.Add([]byte(`{"messages":[{"source":{"type":"content","content":[{"type":"image","source":{"data":"A"}}]}}],"thinking_budget":9}`))
	f.Add([]byte(`{"input":[{"output":{"image_url":{"url":"data:image/png,B","url":"data:image/gif,C"}}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var b jsonscan.Body
		if b.Parse(body) != nil {
			return
		}
		c, size := params.ContentOf(&b), int64(len(body))
		if c.Images < 0 || c.Images > size || c.Encoded < 0 || c.Encoded > size || c.Prediction < 0 || c.Prediction > size || c.Thinking < 0 {
			t.Fatalf("%+v", c)
		}
		l, err := params.ChatLimits(&b)
		if err != nil {
			return
		}
		l.SetOutput(&b, "", 3)
		edited := b.Append(nil)
		if err := b.Parse(edited); err != nil {
			t.Fatalf("%q became %q: %v", body, edited, err)
		}
		capped, err := params.ChatLimits(&b)
		if err != nil || capped.Output != 3 || capped.Messages != l.Messages {
			t.Fatalf("%q became %q: %+v, %v", body, edited, capped, err)
		}
	})
}
