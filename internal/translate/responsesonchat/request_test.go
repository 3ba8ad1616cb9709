package responsesonchat_test

import (
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

func TestALimitOfTheGatewayReplacesTheRequests(t *testing.T) {
	for body, opt := range map[string]responsesonchat.Options{
		`{"model":"m","input":"hi"}`:                          {MaxOutput: 5},
		`{"model":"m","input":"hi","max_output_tokens":null}`: {MaxOutput: 5, MaxTokensField: "max_completion_tokens"},
		`{"model":"m","input":"hi","max_output_tokens":99}`:   {MaxOutput: 5, MaxTokensField: "max_tokens"},
	} {
		chat, original, err := translateBody(body, opt)
		if err != nil {
			t.Fatal(err)
		}
		field := opt.MaxTokensField
		if field == "" {
			field = "max_completion_tokens"
		}
		want := `{"model":"echo","messages":[{"role":"user","content":"hi"}],"` + field + `":5}`
		if string(chat) != want {
			t.Errorf("%s: got %s", body, chat)
		}
		out, _, err := responsesonchat.Result(nil, []byte(`{"choices":[{"message":{"content":"a"}}]}`), original, translatetest.NewCall(), counter{})
		if err != nil || jsontest.Count(t, out, `{"max_output_tokens":5}`) != 1 {
			t.Errorf("%s: the response %s does not repeat the limit, %v", body, out, err)
		}
	}
}

func TestAnAnswerDoesNotHoldTheRequest(t *testing.T) {
	translatetest.MustNotHold(t, `{"model":"m","input":"hi","include":["reasoning.encrypted_content"]}`, func(b *jsonscan.Body) (*responsesonchat.Original, error) {
		_, original, err := responsesonchat.Request(b, true, responsesonchat.Options{})
		return original, err
	})
}
