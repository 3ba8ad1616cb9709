package modelcall

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/memory"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// panics is a client whose writes end in a panic, as http.ErrAbortHandler does.
type panics struct{ http.ResponseWriter }

func (panics) Write([]byte) (int, error) { panic(http.ErrAbortHandler) }

// cut is an answer that breaks off.
func cut(body string) io.Reader {
	return io.MultiReader(strings.NewReader(body), readerFunc(func([]byte) (int, error) { return 0, errors.New("reset") }))
}

// However an answer ends, its memory is given back: what stayed taken would be missing until a restart.
func TestTheMemoryOfAnAnswerIsGivenBackHoweverItEnds(t *testing.T) {
	const size = 1 << 20
	whole, events := largeChat(size), largeEvents(2, size)
	chatOnly := func(c *provider.Config) { c.Translate = new(provider.Translate) }
	inResponses := `{"model":"acme/m","input":"hello","stream":true}`
	failing := func(w http.ResponseWriter) http.ResponseWriter { return &lateReader{ResponseWriter: w} }
	panicking := func(w http.ResponseWriter) http.ResponseWriter { return panics{w} }
	for name, c := range map[string]struct {
		media, request string
		answer         func() io.Reader
		op             *wire.Operation
		client         func(http.ResponseWriter) http.ResponseWriter
		change         func(*provider.Config)
	}{
		"whole, cut":              {"application/json", hello, func() io.Reader { return cut(whole[:size]) }, wire.Chat, nil, nil},
		"whole, not JSON":         {"application/json", hello, func() io.Reader { return strings.NewReader(whole[:size]) }, wire.Chat, nil, nil},
		"whole, client gone":      {"application/json", hello, func() io.Reader { return strings.NewReader(whole) }, wire.Chat, failing, nil},
		"whole, panic":            {"application/json", hello, func() io.Reader { return strings.NewReader(whole) }, wire.Chat, panicking, nil},
		"stream, cut in an event": {eventsMedia, streamed, func() io.Reader { return cut(events[:size+size/2]) }, wire.Chat, nil, nil},
		"stream, not JSON":        {eventsMedia, streamed, func() io.Reader { return strings.NewReader("data: " + whole[:size] + "\n\n") }, wire.Chat, nil, nil},
		"stream, client gone":     {eventsMedia, streamed, func() io.Reader { return strings.NewReader(events) }, wire.Chat, failing, nil},
		"stream, panic":           {eventsMedia, streamed, func() io.Reader { return strings.NewReader(events) }, wire.Chat, panicking, nil},
		"translated, cut":         {eventsMedia, inResponses, func() io.Reader { return cut(largeEvents(200, 10<<10)[:size]) }, wire.Responses, nil, chatOnly},
		"translated, client gone": {eventsMedia, inResponses, func() io.Reader { return strings.NewReader(events) }, wire.Responses, failing, chatOnly},
	} {
		var all memory.Semaphore
		all.SetLimit(1 << 30)
		var most int64
		r := newRig(t, answering(200, ""), func(r *rig) {
			r.Answers = &all
			r.models.provider = newProvider(t, roundTrip(func(*http.Request) (*http.Response, error) {
				source := c.answer()
				body := readerFunc(func(p []byte) (int, error) {
					most = max(most, all.Used())
					return source.Read(p)
				})
				return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {c.media}}, Body: io.NopCloser(body), ContentLength: -1}, nil
			}), c.change)
		})
		func() {
			defer func() { _ = recover() }() // as net/http does
			var w http.ResponseWriter = httptest.NewRecorder()
			if c.client != nil {
				w = c.client(w)
			}
			_ = r.serveTo(t, w, post(strings.NewReader(c.request), int64(len(c.request))), c.op)
		}()
		if most == 0 || all.Used() != 0 {
			t.Errorf("%s: up to %d bytes were taken, %d are left", name, most, all.Used())
		}
	}
}
