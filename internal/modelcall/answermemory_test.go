package modelcall

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// plenty is the memory of an attempt that a test does not fill. The test fails if some stays taken.
func plenty(t *testing.T) *answerMemory {
	t.Helper()
	all := new(memory.Semaphore)
	all.SetLimit(1 << 30)
	m := &answerMemory{all: all, of: &upstream{ctx: t.Context()}}
	t.Cleanup(func() {
		if m.release(); all.Used() != 0 {
			t.Errorf("%d bytes are not given back", all.Used())
		}
	})
	return m
}

func largeChat(n int) string {
	return strings.Replace(chatAnswerBody, "Hello.", strings.Repeat("a", n), 1)
}

// largeEvents are n events of a chat stream with texts of so many bytes.
func largeEvents(n, size int) string {
	event := `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"` +
		strings.Repeat("a", size) + `"},"finish_reason":null}]}` + "\n\n"
	return strings.Repeat(event, n) + "data: [DONE]\n\n"
}

// observed answers with a body, and notes how much of the memory for answers is taken meanwhile.
func observed(answers *memory.Semaphore, media, body string, most *int64) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		source := strings.NewReader(body)
		read := readerFunc(func(p []byte) (int, error) {
			*most = max(*most, answers.Used())
			return source.Read(p[:min(len(p), 64<<10)])
		})
		return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(read), ContentLength: -1}, nil
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

const eventsMedia = "text/event-stream"

func TestASmallAnswerTakesNoMemory(t *testing.T) {
	for _, c := range []struct{ media, request, answer string }{
		{"application/json", hello, largeChat(100 << 10)}, {eventsMedia, streamed, largeEvents(50, 10<<10)},
	} {
		var most int64
		var all memory.Semaphore // of no bytes
		r := newRig(t, observed(&all, c.media, c.answer, &most), func(r *rig) { r.Answers = &all })
		if _, refusal := r.serve(t, wire.Chat, c.request); refusal != nil {
			t.Errorf("%s: %v", c.media, refusal)
		}
	}
}

func TestALargeAnswerCountsWhileItIsHeld(t *testing.T) {
	const size = 1 << 20
	chatOnly := func(c *provider.Config) { c.Translate = new(provider.Translate) }
	for _, c := range []struct {
		name, media, request, answer string
		op                           *wire.Operation
		change                       func(*provider.Config)
		least, most                  int64
	}{
		{"whole", "application/json", hello, largeChat(size), wire.Chat, nil, 2 * size, 8 * size},
		{"an event", eventsMedia, streamed, largeEvents(1, size), wire.Chat, nil, 2 * size, 8 * size},
		{"many events", eventsMedia, streamed, largeEvents(8, size), wire.Chat, nil, 2 * size, 8 * size},
		{"whole, as events", "application/json", streamed, largeChat(size), wire.Chat, nil, 2 * size, 16 * size},
		{"what a translation keeps", eventsMedia, `{"model":"acme/m","input":"hello","stream":true}`, largeEvents(400, 10<<10), wire.Responses, chatOnly, 7 * size, 9 * size},
	} {
		var most int64
		r := newRig(t, answering(200, ""), func(r *rig) {
			r.models.provider = newProvider(t, observed(&r.answers, c.media, c.answer, &most), c.change)
		})
		if _, refusal := r.serve(t, c.op, c.request); refusal != nil {
			t.Errorf("%s: %v", c.name, refusal)
		}
		if most < c.least || most > c.most || r.answers.Used() != 0 {
			t.Errorf("%s: up to %d bytes were taken, %d are left", c.name, most, r.answers.Used())
		}
	}
}

// A call that cannot have the memory ends after five seconds; what it holds goes to the others.
func TestAFullMemoryForAnswersIsBusy(t *testing.T) {
	for _, c := range []struct{ media, request, answer string }{
		{"application/json", hello, largeChat(1 << 20)}, {eventsMedia, streamed, largeEvents(1, 1<<20)},
	} {
		synctest.Test(t, func(t *testing.T) {
			var most int64
			var all memory.Semaphore
			all.SetLimit(1 << 20)
			r := newRig(t, observed(&all, c.media, c.answer, &most), func(r *rig) { r.Answers = &all })
			begun := time.Now()
			_, refusal := r.serve(t, wire.Chat, c.request)
			wantRefusal(t, refusal, apierror.GatewayBusy, "large answers")
			if took := time.Since(begun); took != answersWait || all.Used() != 0 {
				t.Errorf("%s: after %s, %d bytes are left", c.media, took, all.Used())
			}
			if rows := r.rows(t); len(rows) != 1 || rows[0].Status != 429 || rows[0].Code != "gateway_busy" || rows[0].RefusedBy != "gateway: answer_memory" {
				t.Errorf("%s: rows %+v", c.media, rows)
			}
		})
	}
}

func TestAnAnswerWaitsForMemoryUntilItsClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		u := &upstream{ctx: ctx, drain: drain{client: ctx}, target: &target{provider: newProvider(t, answering(200, ""), nil)}}
		m := answerMemory{all: new(memory.Semaphore), of: u}
		time.AfterFunc(time.Second, leave)
		begun := time.Now()
		wantRefusal(t, m.hold(wholeAnswer, 1<<20), apierror.ClientGone, "")
		if took := time.Since(begun); took != time.Second {
			t.Errorf("after %s", took)
		}
	})
}
