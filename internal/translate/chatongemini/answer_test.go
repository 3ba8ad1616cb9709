package chatongemini_test

import (
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/translatetest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/chatongemini"
)

// A golden file of an answer has what the provider answered (stream.txt) to a request with these
// properties (asked.txt, optional), and what comes of it: chunks.txt and chat.json are those of the
// chat stream and of the whole completion.
func TestGoldenAnswers(t *testing.T) {
	for _, g := range translatetest.Goldens(t) {
		if g.File("stream.txt") != "" {
			g.Run(t, checkAnswer)
		}
	}
}

func checkAnswer(t *testing.T, g *translatetest.Golden) {
	asked := g.File("asked.txt")
	original := chatongemini.Asked{
		Functions: strings.Contains(asked, "functions"), HideReasoning: strings.Contains(asked, "no reasoning"), Searches: strings.Contains(asked, "search"),
	}.Original()
	wire := g.File("stream.txt")
	out, err := io.ReadAll(original.Stream(strings.NewReader(wire), translatetest.NewCall(), nil))
	if err != nil {
		out = append(out, "error: "+err.Error()+"\n"...)
	}
	g.Want("chunks.txt", string(out))
	sent, _ := stream(original, wire, true)
	if _, err := translatetest.CheckChunks(sent); err != nil {
		t.Errorf("the caller gets %v", err)
	}
	whole, err := original.Whole(strings.NewReader(wire), translatetest.NewCall(), nil)
	if err != nil {
		g.Want("chat.json", "error: "+err.Error()+"\n")
		return
	}
	g.Want("chat.json", translatetest.Indent(t, whole))
}

// stream answers a streamed call as the gateway does.
func stream(original *chatongemini.Original, wire string, usage bool) (string, error) {
	call := translatetest.NewCall()
	call.IncludeUsage = usage
	return streamAgain(original, wire, call, nil)
}

// withUsage is the call of a caller who asks for usage.
func withUsage() openai.Call {
	call := translatetest.NewCall()
	call.IncludeUsage = true
	return call
}

func streamAgain(original *chatongemini.Original, wire string, call openai.Call, again translate.Again) (string, error) {
	return translatetest.Drive(openai.NewChatStream(call), original.Stream(strings.NewReader(wire), call, again))
}
