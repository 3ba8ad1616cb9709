package completion

import (
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/openai"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/translate"
)

func TestChunksReleaseTheMemoryOfALongDelta(t *testing.T) {
	s := Stream{To: NewTarget(false, openai.NewChatStream(openai.Call{Model: "m", Provider: "p"}))}
	long := []byte(strings.Repeat("hi", translate.MaxScratch))
	s.Resume(nil)
	c := s.To.Content().(*Chunks)
	c.Begin(true)
	c.Text(long, nil)
	c.Reasoning(long, []byte(`"`+string(long)+`"`))
	c.Image(long)
	thoughts := NewThoughts(c, []byte(`"p/m"`), false)
	thoughts.Piece(0, true, long)
	out := s.Pause(nil)
	if !strings.HasPrefix(jsontest.String(t, out, "content"), "hihi") || !strings.HasPrefix(jsontest.String(t, out, "reasoning_content"), "hihi") ||
		!strings.HasPrefix(jsontest.String(t, out, "url"), "hihi") {
		t.Fatalf("%.200s", out)
	}
	if n := cap(c.scratch); n > translate.MaxScratch {
		t.Errorf("the chunks keep %d bytes", n)
	}
	if n := cap(thoughts.scratch); n > translate.MaxScratch {
		t.Errorf("the thoughts keep %d bytes", n)
	}
	if c.out != nil {
		t.Error("the stream keeps the buffer of its caller")
	}
}

func TestChunksThatAreAlikeAreThoseOfTheFamily(t *testing.T) {
	write := func(alike bool) string {
		s := Stream{To: NewTarget(false, openai.NewChatStream(openai.Call{Model: "m", Provider: "p", IncludeUsage: true}))}
		s.Resume(nil)
		c := s.To.Content().(*Chunks)
		c.Alike = alike
		c.Begin(true)
		for _, piece := range []string{"a", `\"content\":\"b`, "", "c"} {
			c.Text([]byte(piece), nil)
			c.Text([]byte(piece), []byte(`{"token":"t"}`))
			c.Reasoning([]byte(piece), nil)
		}
		s.To.Finish(Ending{Finish: "stop"})
		out, err := s.Close(s.Pause(nil), nil, true)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	if got, want := write(true), write(false); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAnEmptyLineStandsBetweenTextsOfThoughtsOnly(t *testing.T) {
	for _, whole := range []bool{false, true} {
		m := NewMessage(false)
		w := NewThoughts(m, []byte(`"p/m"`), whole)
		w.Signature(w.Begin(), true, []byte(`"s"`)) // thoughts without text
		w.Piece(w.Begin(), true, []byte("a"))
		w.Piece(w.Begin(), true, []byte("b"))
		if got := string(m.reasoning); got != `a\n\nb` {
			t.Errorf("whole %v: %q", whole, got)
		}
	}
}
