package modelcall

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
)

// oneAtOnce is a rig whose key may have one call under way and ten in the queue.
func oneAtOnce(t *testing.T, wait time.Duration) *rig {
	one := limits.Subject{Name: "key:dev", Concurrency: limits.Concurrency{Limit: 1, Queue: 10, Wait: wait}}
	return newRig(t, answering(200, `{}`), limited(&policy.KeyLimits{Subjects: []limits.Subject{one}}))
}

func (r *rig) wantCalls(t *testing.T, subject string, inUse, waiting int) {
	t.Helper()
	if in, queue := r.Concurrency.InUse(subject); in != inUse || queue != waiting {
		t.Errorf("%s: %d calls under way and %d waiting, want %d and %d", subject, in, queue, inUse, waiting)
	}
}

// endless never ends, and counts what was read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

// net/http notices that an HTTP/1 client has left only once the body was read.
func TestASmallBodyIsReadWhileItsCallIsQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneAtOnce(t, time.Minute)
		first := r.begin(t, "{}")
		if err := first.enter(); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			size   int64
			change func(*http.Request)
			ahead  bool
		}{
			{"small", 256 << 10, func(*http.Request) {}, true},
			{"large", 256<<10 + 1, func(*http.Request) {}, false},
			{"of unknown length", 1000, func(r *http.Request) { r.ContentLength = -1 }, false},
			{"held back for 100 Continue", 1000, func(r *http.Request) { r.Header.Set("Expect", "100-continue") }, false},
			{"over HTTP/2, which notices anyway", 1000, func(r *http.Request) { r.ProtoMajor = 2 }, false},
		} {
			source := &endless{}
			ctx, leave := context.WithCancel(t.Context())
			req := post(io.LimitReader(source, c.size), c.size).WithContext(ctx)
			c.change(req)
			call := r.beginWith(t, httptest.NewRecorder(), req)
			ended := make(chan error)
			go func() { ended <- call.enter() }()
			synctest.Wait()
			r.wantCalls(t, "key:dev", 1, 1)
			if ahead := source.read > 0; ahead != c.ahead || call.req.Upload.Complete() != c.ahead {
				t.Errorf("%s: %d bytes are read of a queued call", c.name, source.read)
			}
			leave()
			wantRefusal(t, <-ended, apierror.ClientGone, "the client left")
			r.wantCalls(t, "key:dev", 1, 0)
			call.req.Finish()
		}
		next := r.begin(t, "{}")
		admitted := make(chan error)
		go func() { admitted <- next.enter() }()
		synctest.Wait()
		first.req.Finish()
		if err := <-admitted; err != nil {
			t.Fatal(err)
		}
		if body, err := next.req.Upload.Read(100); err != nil || string(body) != "{}" {
			t.Errorf("the body that was read ahead: %q, %v", body, err)
		}
		next.req.Finish()
		if used := r.memory.Used(); used != 0 {
			t.Errorf("%d bytes were not given back", used)
		}
		r.wantCalls(t, "key:dev", 0, 0)
	})
}

// slowBody is a body that comes as a test writes it, on a connection with deadlines.
type slowBody struct {
	*httptest.ResponseRecorder
	*io.PipeReader
}

func (b slowBody) SetReadDeadline(at time.Time) error {
	if !at.IsZero() {
		_ = b.CloseWithError(os.ErrDeadlineExceeded)
	}
	return nil
}

// A body that does not come to its end keeps no place in the queue for longer than the queue allows,
// and a broken one none.
func TestAnUploadInTheQueueEndsWithTheWait(t *testing.T) {
	for name, c := range map[string]struct {
		send  func(*io.PipeWriter)
		after time.Duration
		code  apierror.Code
	}{
		"slow":   {func(w *io.PipeWriter) { _, _ = w.Write([]byte("{")) }, 3 * time.Second, apierror.ConcurrencyLimitExceeded},
		"broken": {func(w *io.PipeWriter) { _ = w.CloseWithError(errors.New("malformed")) }, 0, apierror.InvalidJSON},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := oneAtOnce(t, 3*time.Second)
				first := r.begin(t, "{}")
				if err := first.enter(); err != nil {
					t.Fatal(err)
				}
				reader, writer := io.Pipe()
				call, begun := r.beginWith(t, slowBody{httptest.NewRecorder(), reader}, post(reader, 1000)), time.Now()
				go c.send(writer)
				wantRefusal(t, call.enter(), c.code, "")
				if waited := time.Since(begun); waited != c.after {
					t.Errorf("after %v", waited)
				}
				call.req.Finish()
				r.wantCalls(t, "key:dev", 1, 0)
				first.req.Finish()
			})
		})
	}
}

func TestAnUploadGoesOnOnceItsCallIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneAtOnce(t, 3*time.Second)
		first := r.begin(t, "{}")
		if err := first.enter(); err != nil {
			t.Fatal(err)
		}
		reader, writer := io.Pipe()
		go func() {
			time.Sleep(time.Second)
			first.req.Finish()
			time.Sleep(time.Minute)
			_, _ = writer.Write([]byte("{}"))
			_ = writer.Close()
		}()
		call := r.beginWith(t, slowBody{httptest.NewRecorder(), reader}, post(reader, 2))
		defer call.req.Finish()
		if err := call.enter(); err != nil {
			t.Error(err)
		}
		r.wantCalls(t, "key:dev", 1, 0)
	})
}

// A call that is queued for a model holds no slot of the gateway.
func TestACallThatWaitsForAModelKeepsNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := limits.Subject{Name: "gateway", Concurrency: limits.Concurrency{Limit: 2}}
		one := limits.Subject{Name: "model:acme/slow", Concurrency: limits.Concurrency{Limit: 1, Queue: 10, Wait: time.Minute}}
		r := newRig(t, answering(200, `{}`), limited(&policy.KeyLimits{Subjects: []limits.Subject{both}}), func(r *rig) {
			r.Limits.Models = []policy.ModelLimits{{Pattern: "acme/slow", Subject: one}}
		})
		admit := func(model string) (*call, error) {
			call := r.begin(t, strings.Replace(hello, "acme/m", model, 1))
			return call, call.admit(t.Context())
		}
		atWork, err := admit("acme/slow")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			waited, err := admit("acme/slow")
			if err != nil {
				t.Error(err)
			}
			r.wantCalls(t, "model:acme/slow", 1, 0)
			waited.req.Finish()
		}()
		synctest.Wait()
		r.wantCalls(t, "model:acme/slow", 1, 1)
		other, err := admit("acme/fast")
		if err != nil {
			t.Errorf("one call at work and one that waits for a model, of two: %v", err)
		}
		atWork.req.Finish()
		synctest.Wait()
		other.req.Finish()
		r.wantCalls(t, "model:acme/slow", 0, 0)
		r.wantCalls(t, "gateway", 0, 0)
	})
}
