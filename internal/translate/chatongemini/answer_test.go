package chatongemini_test

import (
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
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

// paced gives an event only after the one before was read.
type paced struct {
	t      *testing.T
	events []string
	ready  int // how many may be read
}

func (p *paced) Read(b []byte) (int, error) {
	if p.ready == 0 {
		p.t.Fatal("a chunk waits for the next event")
	}
	n := copy(b, p.events[0])
	if p.events[0] = p.events[0][n:]; p.events[0] == "" {
		p.events, p.ready = p.events[1:], p.ready-1
	}
	return n, nil
}

func TestAChunkDoesNotWaitForTheNextEvent(t *testing.T) {
	provider := &paced{t: t}
	body := chatongemini.Asked{}.Original().Stream(provider, translatetest.NewCall(), nil)
	for _, text := range []string{"one", "two", "three"} {
		provider.events = append(provider.events, said(text, "", `{"promptTokenCount":1}`))
		provider.ready = 1
		var got strings.Builder
		var b [64]byte
		for !strings.HasSuffix(got.String(), "\n\n") || !strings.Contains(got.String(), text) {
			n, err := body.Read(b[:])
			if err != nil {
				t.Fatal(err)
			}
			got.Write(b[:n])
		}
	}
}

// A model that says STOP in each event is not held back until its end.
func TestOnlyOneEventWaitsForTheEndOfTheBody(t *testing.T) {
	provider := &paced{t: t}
	body := chatongemini.Asked{}.Original().Stream(provider, translatetest.NewCall(), nil)
	out := make([]byte, 4<<10)
	for _, texts := range [][]string{{"one", "two"}, {"three"}, {"four"}} {
		for _, text := range texts {
			provider.events = append(provider.events, said(text, stops, `{"promptTokenCount":1}`))
			provider.ready++
		}
		n, err := body.Read(out)
		if last := texts[len(texts)-1]; err != nil || !strings.Contains(string(out[:n]), last) {
			t.Errorf("%v: %s lacks %q", err, out[:n], last)
		}
	}
}

// Each read of the stream is a write to the client.
func TestEventsThatCameTogetherAreReadTogether(t *testing.T) {
	wire := strings.Repeat(said("one", "", `{"promptTokenCount":1}`), 64) + said("last", stops, `{"promptTokenCount":1}`)
	out := make([]byte, 64<<10)
	n, err := chatongemini.Asked{}.Original().Stream(strings.NewReader(wire), translatetest.NewCall(), nil).Read(out)
	if got := string(out[:n]); err != nil || jsontest.Count(t, got, `{"content":"one"}`) != 64 || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("%v: %s", err, got)
	}
}

// A signature is noted as one that only its model can read, before the bytes with it are sent.
func TestSignaturesAreReported(t *testing.T) {
	wire := translatetest.ReadGolden(t, "answer-calls").File("stream.txt")
	for name, read := range map[string]func(*chatongemini.Original, openai.Call){
		"streamed": func(o *chatongemini.Original, call openai.Call) {
			_, _ = io.Copy(io.Discard, o.Stream(strings.NewReader(wire), call, nil))
		},
		"whole": func(o *chatongemini.Original, call openai.Call) { _, _ = o.Whole(strings.NewReader(wire), call, nil) },
	} {
		for _, hidden := range []bool{false, true} {
			call, found := translatetest.NewCall(), ""
			call.OnSealed = func(content string) { found += content }
			read(chatongemini.Asked{HideReasoning: hidden}.Original(), call)
			if found != "c2lnMQ==" {
				t.Errorf("%s, hidden %v: %q", name, hidden, found)
			}
		}
	}
}
