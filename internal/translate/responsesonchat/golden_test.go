package responsesonchat_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/responsesonchat"
)

// A golden file has what the caller sent (request.json), the options (options.json, optional) and
// what it answered (answer.json or stream.txt, both optional); and what comes of it: chat.json, and
// response.json or events.txt. What all responses to a request repeat of it is shown by echo.txtar
// alone, and elsewhere as "…".
func TestGolden(t *testing.T) {
	for _, g := range translatetest.Goldens(t) {
		g.Run(t, checkGolden)
	}
}

func checkGolden(t *testing.T, g *translatetest.Golden) {
	var opt responsesonchat.Options
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

	short := strings.NewReplacer(original.Repeated(), `"…":"…"`)
	if g.Name == "echo" {
		short = strings.NewReplacer()
	}
	if answer := g.File("answer.json"); answer != "" {
		out, _, err := responsesonchat.Result(nil, []byte(answer), original, translatetest.NewCall(), counter{})
		if err != nil {
			t.Fatal(err)
		}
		g.Want("response.json", translatetest.Indent(t, []byte(short.Replace(string(out)))))
	}
	if wire := g.File("stream.txt"); wire != "" {
		out, _ := stream(original, wire)
		g.Want("events.txt", short.Replace(out))
		if _, err := checkEvents(out); err != nil {
			t.Error(err)
		}
	}
}

func TestTheManualHasTheFieldsOfTheTable(t *testing.T) {
	translatetest.CheckManual(t, "responses.md", "Request fields", responsesonchat.Fields())
}
