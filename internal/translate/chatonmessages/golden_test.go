package chatonmessages_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/anthropicrules"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonmessages"
)

// A golden file has what the caller of chat completions sent (request.json) to which model
// (model.txt, optional) and what the provider of Messages answered (answer.json or stream.txt, both
// optional); and what comes of it: messages.json, and chat.json or chunks.txt. Files whose names
// begin with openrouter are answered as the second family.
func TestGolden(t *testing.T) {
	for _, g := range translatetest.Goldens(t) {
		g.Run(t, checkGolden)
	}
}

func optionsOf(g *translatetest.Golden) chatonmessages.Options {
	if model := strings.TrimSpace(g.File("model.txt")); model != "" {
		return forModel(model)
	}
	return forModel(plainModel)
}

func checkGolden(t *testing.T, g *translatetest.Golden) {
	r := translated(t, g.File("request.json"), optionsOf(g))
	g.Want("messages.json", translatetest.Indent(t, r.messages))
	if left := r.original.LeftOut(); left != nil || g.File("left-out.txt") != "" {
		g.Want("left-out.txt", strings.Join(left, "\n")+"\n")
	}
	version := http.Header{"Anthropic-Version": {chatonmessages.Version}}
	if err := anthropicrules.Check(version, r.messages, false); err != nil && !strings.Contains(err.Error(), "signature") {
		t.Errorf("a provider with Anthropic's rules refuses the request: %v", err)
	}
	second := strings.HasPrefix(g.Name, "openrouter")
	if answer := g.File("answer.json"); answer != "" {
		out, _, err := result(r.original, answer, second)
		if err != nil {
			t.Fatal(err)
		}
		g.Want("chat.json", translatetest.Indent(t, out))
	}
	if wire := g.File("stream.txt"); wire != "" {
		out, _ := stream(r.original, wire, second, r.req.IncludeUsage)
		g.Want("chunks.txt", out)
		if _, err := translatetest.CheckChunks(out); err != nil {
			t.Error(err)
		}
	}
}

func TestEveryFieldIsShown(t *testing.T) { translatetest.CheckShown(t, chatonmessages.Fields()) }

func TestTheManualHasTheFieldsOfTheTable(t *testing.T) {
	translatetest.CheckManual(t, "anthropic.md", "Chat request fields", chatonmessages.Fields())
}
