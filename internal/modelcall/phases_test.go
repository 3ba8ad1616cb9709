package modelcall

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
)

// ownTime is how long the gateway itself works in these tests, and ownModels is where.
const ownTime = 7 * time.Millisecond

type ownModels struct{ Models }

func (m ownModels) Find(key *keys.Key, name string) (Found, error) {
	time.Sleep(ownTime)
	return m.Models.Find(key, name)
}

// busy makes the gateway work. No heartbeat may meet a write that sleeps: it would wait for a mutex,
// which stops the clock of a bubble.
func busy(r *rig) {
	r.Models = ownModels{r.Models}
	r.Timeouts.Commit, r.Timeouts.Heartbeat = time.Hour, time.Hour
}

// slowUpload takes that long before the first byte.
type slowUpload struct {
	io.Reader
	wait time.Duration
}

func (r *slowUpload) Read(p []byte) (int, error) {
	time.Sleep(r.wait)
	r.wait = 0
	return r.Reader.Read(p)
}

// late is a provider that answers after a time, and sends the first byte after another.
func late(header, body time.Duration, answer roundTrip) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		time.Sleep(header)
		resp, err := answer(req)
		if err == nil {
			resp.Body = io.NopCloser(&slowUpload{resp.Body, body})
		}
		return resp, err
	}
}

// slowClient takes a minute to read what is written to it.
type slowClient struct{ *httptest.ResponseRecorder }

func (w slowClient) Write(p []byte) (int, error) {
	time.Sleep(time.Minute)
	return w.ResponseRecorder.Write(p)
}

// timed makes a call with a body that takes two seconds to arrive, and returns its record.
func (r *rig) timed(t *testing.T, body string) activity.Record {
	t.Helper()
	source := &slowUpload{strings.NewReader(body), 2 * time.Second}
	_ = r.serveTo(t, slowClient{httptest.NewRecorder()}, post(source, int64(len(body))), wire.Chat)
	return r.rows(t)[0]
}

func wantPhases(t *testing.T, row activity.Record, queued, overhead time.Duration) {
	t.Helper()
	if row.Queued != queued || row.Overhead != overhead {
		t.Errorf("%s in the queue and %s of overhead, want %s and %s (in all %s)", row.Queued, row.Overhead, queued, overhead, row.Latency)
	}
}

func TestTheOverheadIsWhatTheGatewayItselfNeeds(t *testing.T) {
	word := `data: {"choices":[{"index":0,"delta":{"content":"x"}}]}` + "\n\n"
	stream := strings.Replace(hello, `"max_tokens"`, `"stream":true,"max_tokens"`, 1)
	for name, c := range map[string]struct {
		body   string
		answer roundTrip
		code   string
	}{
		"whole answer":      {hello, answering(200, chatAnswerBody), ""},
		"stream":            {stream, eventsOf(word + word + doneWord), ""},
		"refused by it":     {hello, answering(400, `{"error":{"message":"no"}}`), "upstream_rejected"},
		"no stream at all":  {stream, answering(500, `{}`), "upstream_error"},
		"stream in one go":  {stream, jsonOf(chatAnswerBody), ""},
		"a broken answer":   {hello, answering(200, `{`), "upstream_error"},
		"an unknown model":  {strings.Replace(hello, "acme/m", "other/m", 1), nil, "model_not_found"},
		"an early refusal":  {strings.Replace(hello, "acme/m", "acme/hidden", 1), nil, "model_not_callable"},
		"an unreachable":    {hello, func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, "upstream_error"},
		"an unusual answer": {stream, answering(200, `x`), "upstream_error"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				row := newRig(t, late(3*time.Second, 5*time.Second, c.answer), busy).timed(t, c.body)
				if row.Code != c.code {
					t.Errorf("code %q", row.Code)
				}
				wantPhases(t, row, 0, ownTime)
			})
		})
	}
}

// jsonOf is a provider that gives a whole answer to a request for a stream.
func jsonOf(body string) roundTrip {
	return func(req *http.Request) (*http.Response, error) {
		resp, err := answering(200, body)(req)
		resp.Header.Set("Content-Type", "application/json")
		return resp, err
	}
}

// A stream goes on for as long as the provider and the client like.
func TestTheOverheadOfAStreamEndsWithItsFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pauses := func(req *http.Request) (*http.Response, error) {
			resp, err := eventsOf("")(req)
			out, in := io.Pipe()
			resp.Body = out
			go func() {
				for _, text := range []string{firstWord, lastWord, usageWord, doneWord} {
					time.Sleep(4 * time.Second)
					_, _ = io.WriteString(in, text)
				}
				_ = in.Close()
			}()
			return resp, err
		}
		row := newRig(t, roundTrip(pauses), busy).timed(t, strings.Replace(hello, `"max_tokens"`, `"stream":true,"max_tokens"`, 1))
		wantPhases(t, row, 0, ownTime)
		if want := 2*time.Second + ownTime + 4*time.Second; row.Code != "" || row.FirstToken != want || row.Latency < 2*time.Minute {
			t.Errorf("%q: the first event after %s, the end after %s", row.Code, row.FirstToken, row.Latency)
		}
	})
}

func TestTheTimeInAQueueIsNoOverhead(t *testing.T) {
	for name, subject := range map[string]limits.Subject{
		"key":   {Name: "key:dev", Concurrency: limits.Concurrency{Limit: 1, Queue: 5, Wait: time.Minute}},
		"model": {Name: "model:acme/*", Concurrency: limits.Concurrency{Limit: 1, Queue: 5, Wait: time.Minute}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, late(time.Second, 0, answering(200, chatAnswerBody)), busy, func(r *rig) {
					if name == "key" {
						limited(&policy.KeyLimits{Subjects: []limits.Subject{subject}})(r)
					} else {
						r.Limits.Models = []policy.ModelLimits{{Pattern: "acme/*", Subject: subject}}
					}
				})
				other, busy := r.Concurrency.Acquire([]limits.Subject{subject}, nil)
				if busy != nil {
					t.Fatal(busy)
				}
				time.AfterFunc(30*time.Second, other.Release)
				queued := 30 * time.Second // the key's, in which the body is read
				if name == "model" {
					queued -= 2*time.Second + ownTime
				}
				wantPhases(t, r.timed(t, hello), queued, ownTime)
			})
		})
	}
}

// The pause before the second request is the provider's wish.
func TestAFailoverIsNoOverhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		second := func(req *http.Request) (*http.Response, error) {
			if asked++; asked == 1 {
				return answering(429, `{}`)(req)
			}
			return answering(200, chatAnswerBody)(req)
		}
		r := newRig(t, roundTrip(nil), inTurn(t, by(late(2*time.Second, time.Second, answering(503, "{}"))), by(late(3*time.Second, 0, second))), busy)
		row := r.timed(t, chatWith("fast", ""))
		if row.Code != "" || row.Attempts != 3 {
			t.Fatalf("%q after %d attempts", row.Code, row.Attempts)
		}
		wantPhases(t, row, 0, ownTime)
	})
}
