package translatetest

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/openrouter"
)

func orCall() openrouter.Call {
	return openrouter.Call{Call: NewCall(), Cost: func(openai.Usage) []byte { return []byte("0.5") }}
}

// Family returns the stream of a client of chat completions, of the second family or the first.
func Family(second, usage bool) openai.DeltaStream {
	if second {
		return openrouter.NewChatStream(orCall())
	}
	call := NewCall()
	call.IncludeUsage = usage
	return openai.NewChatStream(call)
}

// FamilyResult returns what a client of chat completions gets of a whole answer that was translated.
func FamilyResult(second bool, chat []byte, sum openai.Summary, err error) ([]byte, openai.Summary, error) {
	if err != nil {
		return nil, sum, err
	}
	var out []byte
	if second {
		out, _, err = openrouter.ChatResult(nil, chat, orCall())
	} else {
		out, _, err = openai.ChatResult(nil, chat, NewCall())
	}
	return out, sum, err
}

// Feed gives named events to a stream one by one, as often as it is called with some.
func Feed(s openai.Stream, events ...string) string {
	var out []byte
	var wire openai.Events
	for e := range strings.SplitAfterSeq(strings.Join(events, ""), "\n\n") {
		if e == "" {
			continue
		}
		name, data, _ := strings.Cut(strings.TrimSuffix(e, "\n\n"), "\n")
		out = s.Data(out, wire.Next([]byte(strings.TrimPrefix(name, "event: ")), []byte(strings.TrimPrefix(data, "data: "))))
	}
	return string(out)
}

// failing is a family's stream that fails at its first chunk.
type failing struct{ openai.DeltaStream }

func (failing) Write(dst []byte, _ *openai.Delta) []byte { return append(dst, "failed"...) }
func (failing) Summary() openai.Summary {
	return openai.Summary{Err: apierror.New(apierror.UpstreamError, "no")}
}

// CheckFailing checks that a failure of the family's stream ends the stream. Text is an event with a piece.
func CheckFailing(t *testing.T, stream func(family openai.DeltaStream) openai.Stream, text string) {
	t.Helper()
	s := stream(failing{})
	if out := Feed(s, text, text); out != "failedfailed" || !s.Done() { // the role and the text
		t.Errorf("%s, done %v", out, s.Done())
	}
	if out, err := s.Close(nil, nil); MustFail(t, err).Message != "no" || len(out) > 0 {
		t.Errorf("closing gave %s, %v", out, err)
	}
}

// CheckEndsOnce checks that a chat stream ends once, as a success only if the events are those of "whole",
// however often it is closed.
func CheckEndsOnce(t *testing.T, stream func() openai.Stream, late string, streams map[string]string) {
	t.Helper()
	failure := apierror.New(apierror.UpstreamTimeout, "the provider was silent for too long")
	for name, events := range streams {
		s := stream()
		out := Feed(s, events)
		for range 3 {
			more, _ := s.Close(nil, nil)
			out += string(more)
		}
		for range 3 {
			more, _ := s.Close(nil, failure)
			out += string(more) + Feed(s, late)
		}
		if g, err := CheckChunks(out); err != nil || (g.Over == "done") != (name == "whole") || !s.Done() {
			t.Errorf("%s: %s, %v in %s", name, g.Over, err, out)
		}
	}
}
