package chatonresponses_test

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatonresponses"
)

// A golden file has what the caller of chat completions sent (request.json) and what the provider
// of responses answered (answer.json or stream.txt, both optional); and what comes of it:
// responses.json, and chat.json or chunks.txt. Files whose names begin with openrouter are answered
// as the second family.
func TestGolden(t *testing.T) {
	for _, g := range translatetest.Goldens(t) {
		g.Run(t, checkGolden)
	}
}

func checkGolden(t *testing.T, g *translatetest.Golden) {
	r := translated(t, g.File("request.json"))
	g.Want("responses.json", translatetest.Indent(t, r.responses))
	if left := r.original.LeftOut(); left != nil || g.File("left-out.txt") != "" {
		g.Want("left-out.txt", strings.Join(left, "\n")+"\n")
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

func TestEveryFieldIsShown(t *testing.T) { translatetest.CheckShown(t, chatonresponses.Fields()) }

func TestTheManualHasTheFieldsOfTheTable(t *testing.T) {
	translatetest.CheckManual(t, "responses.md", "Chat request fields", chatonresponses.Fields())
}
