package modelcall

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// The memory of a call is used again at once. What is left of the one before must not reach it: a
// watchdog that fires late, a drain that begins because the client has left, a shutdown. The race
// detector sees whoever touches it.
func TestACallHasNothingOfTheOneBefore(t *testing.T) {
	type late struct {
		request *request.Request
		waiter  *attempt
	}
	type key struct{}
	r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		l := req.Context().Value(key{}).(*late)
		l.waiter = l.request.Work.(*call).attempt
		body, _ := io.ReadAll(req.Body)
		name := jsontest.String(t, body, "model")
		answer := strings.Replace(chatAnswerBody, "Hello.", name, 1)
		return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: int64(len(answer)), Body: io.NopCloser(strings.NewReader(answer))}, nil
	}))
	r.Limits.Drain = time.Minute
	r.Timeouts.Idle, r.Timeouts.Call = time.Second, 2*time.Second
	var all sync.WaitGroup
	var begin sync.Mutex // of requests, which the rig numbers
	for caller := range 4 {
		all.Go(func() {
			for i := range 50 {
				name := fmt.Sprintf("m%d-%d", caller, i)
				body := strings.Replace(hello, `"acme/m"`, `"acme/`+name+`"`, 1)
				var l late
				client, leave := context.WithCancel(context.WithValue(t.Context(), key{}, &l))
				w := httptest.NewRecorder()
				begin.Lock()
				q := r.request(t, w, post(strings.NewReader(body), int64(len(body))).WithContext(client))
				begin.Unlock()
				l.request = q
				err := Serve(&r.Deps, q, wire.Chat, openaiAPI{})
				go l.waiter.upstream.Expire()
				go leave()
				q.Finish()
				if err != nil || q.Work != nil {
					t.Errorf("%v, the call is kept: %v", err, q.Work != nil)
					return
				}
				if got := w.Body.String(); !strings.Contains(got, `"acme/`+name+`"`) || !jsontest.Has(t, got, `{"content":"`+name+`"}`) ||
					q.Outcome.Record.Model != "acme/"+name || q.Outcome.Record.UpstreamModel != name || q.Outcome.Record.PromptTokens != 3 {
					t.Errorf("%s: %s, record %+v", name, got, q.Outcome.Record)
				}
			}
		})
	}
	all.Wait()
	r.calls.Interrupt(request.ErrShutdown)
}

// A stream has timers of its own, and a call that failed can have left something behind.
func TestOnlyACallWithAWholeAnswerIsUsedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		transport roundTrip
		body      string
		again     bool
	}{
		"whole":   {answering(200, chatAnswerBody), hello, true},
		"failed":  {answering(500, ""), hello, false},
		"refused": {answering(200, chatAnswerBody), "{}", false},
		"stream":  {eventsOf("data: " + string(event("word")) + "\n\ndata: [DONE]\n\n"), strings.Replace(hello, `{`, `{"stream":true,`, 1), false},
	} {
		r := newRig(t, c.transport)
		q := r.request(t, httptest.NewRecorder(), post(strings.NewReader(c.body), int64(len(c.body))))
		_ = Serve(&r.Deps, q, wire.Chat, openaiAPI{})
		q.Finish()
		if again := q.Work == nil; again != c.again {
			t.Errorf("%s: it is used again: %v", name, again)
		}
	}
}
