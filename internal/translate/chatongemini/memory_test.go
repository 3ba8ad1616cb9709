package chatongemini

import (
	"io"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
	"github.com/gatehouse-proxy/gatehouse/internal/translate/completion"
)

// endless repeats an event for so many bytes.
func endless(event string, bytes int) string { return strings.Repeat(event, bytes/len(event)+1) }

func textEvent(text string) string {
	return `data: {"candidates":[{"content":{"parts":[{"text":"` + text + `"}]}}],"usageMetadata":{"promptTokenCount":1}}` + "\n\n"
}

func TestAStreamReleasesTheMemoryOfALongAnswer(t *testing.T) {
	long := strings.Repeat("hi", 1<<19)
	wire := textEvent(long) + strings.ReplaceAll(textEvent(long), `"}]`, `","thought":true}]`) + textEvent("a") + endless(textEvent("b"), 1<<20)
	original := &Original{}
	var source *answer
	s := completion.NewReader(false, openai.Call{Model: "m", Provider: "p"}, func(call *openai.Call, to *completion.Chunks) completion.Source {
		source = original.read(strings.NewReader(wire), call, nil, to, false)
		return source
	})
	var part [512]byte
	total := 0
	for {
		n, err := s.Read(part[:])
		if total += n; err == io.EOF {
			break
		}
	}
	r := &source.reader
	if kept := s.Kept() + cap(r.thoughts.text) + cap(r.sources.text) + r.size; total < 4<<20 || kept > translate.MaxScratch {
		t.Errorf("of %d bytes the stream keeps %d", total, kept)
	}
	if n := cap(r.thoughts.scratch); n > 2*len(long) {
		t.Errorf("the thoughts keep %d bytes", n)
	}
}

// What is kept of an answer is bounded, whatever it is.
func TestAnAnswerOfTooManyBytesFails(t *testing.T) {
	long := strings.Repeat("a", 1<<20)
	call := func(args string) string {
		return `data: {"candidates":[{"content":{"parts":[{"functionCall":{"name":"f"` + args + `}}]}}]}` + "\n\n"
	}
	for name, c := range map[string]struct {
		event    string
		streamed bool
	}{
		"text":       {textEvent(long), false},
		"short text": {textEvent(long[:900]), false},
		"thoughts":   {strings.ReplaceAll(textEvent(long), `"}]`, `","thought":true}]`), false},
		"arguments":  {call(`,"args":{"a":"` + long + `"}`), false},
		"images":     {`data: {"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"` + long + `"}}]}}]}` + "\n\n", false},
		"calls":      {strings.Repeat(call(""), 64), true},
		"cited text": {textEvent(long), true},
	} {
		wire, original := endless(c.event, translate.MaxText*5/4), &Original{searches: c.streamed}
		if name == "calls" {
			wire = strings.Repeat(c.event, 17)
		}
		_, err := original.Whole(strings.NewReader(wire), openai.Call{Provider: "p"}, nil)
		if err == nil || !strings.Contains(err.Error(), "too m") {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := io.Copy(io.Discard, original.Stream(strings.NewReader(wire), openai.Call{Provider: "p"}, nil)); c.streamed != (err != nil) {
			t.Errorf("%s, streamed: %v", name, err)
		}
	}
}
