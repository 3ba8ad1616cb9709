package messagesonchat_test

import (
	"encoding/json"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/messagesonchat"
)

// A golden file has what the caller sent (request.json), the options (options.json, optional) and
// what it answered (answer.json or stream.txt, both optional); and what comes of it: chat.json, and
// message.json or events.txt.
func TestGolden(t *testing.T) {
	for _, g := range translatetest.Goldens(t) {
		g.Run(t, checkGolden)
	}
}

func checkGolden(t *testing.T, g *translatetest.Golden) {
	opt := messagesonchat.Options{InputTokens: 11}
	if text := g.File("options.json"); text != "" {
		if err := json.Unmarshal([]byte(text), &opt); err != nil {
			t.Fatal(err)
		}
	}
	chat, original, err := translateBody(g.File("request.json"), opt)
	if err != nil {
		t.Fatal(err)
	}
	g.Want("chat.json", translatetest.Indent(t, chat))

	if answer := g.File("answer.json"); answer != "" {
		out, _, err := messagesonchat.Result(nil, []byte(answer), original, translatetest.NewCall(), messageID)
		if err != nil {
			t.Fatal(err)
		}
		g.Want("message.json", translatetest.Indent(t, out))
	}
	if wire := g.File("stream.txt"); wire != "" {
		out, _ := stream(original, wire)
		g.Want("events.txt", out)
		if _, err := accumulate(out); err != nil {
			t.Error(err)
		}
	}
}

func TestTheManualHasTheFieldsOfTheTable(t *testing.T) {
	translatetest.CheckManual(t, "messages.md", "Fields of translated requests", messagesonchat.Fields())
}
