package chatonresponses_test

import (
	"github.com/gatehouse-proxy/gatehouse/internal/translate/conversation"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
)

func TestALimitOfTheGatewayReplacesTheRequests(t *testing.T) {
	for _, limits := range []string{
		``, `,"max_tokens":null`, `,"max_tokens":99`, `,"max_completion_tokens":99`, `,"max_completion_tokens":99,"max_tokens":98`,
	} {
		r, err := translateBody(`{"model":"m","messages":[{"role":"user","content":"hi"}]`+limits+`}`, chatonresponses.Options{MaxOutput: 5})
		if err != nil {
			t.Fatal(err)
		}
		want := `{"model":"echo","input":[{"type":"message","role":"user","content":"hi"}],"max_output_tokens":5,"store":false}`
		if string(r.responses) != want {
			t.Errorf("%s: got %s", limits, r.responses)
		}
	}
}

func TestAnAnswerDoesNotHoldTheRequest(t *testing.T) {
	translatetest.MustNotHold(t, `{"model":"m","messages":[{"role":"user","content":"hi"}]}`, func(b *jsonscan.Body) (*chatonresponses.Original, error) {
		_, original, err := chatonresponses.Request(conversation.OfChat(b), true, chatonresponses.Options{})
		return original, err
	})
}
