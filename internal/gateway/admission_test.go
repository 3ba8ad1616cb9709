package gateway_test

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
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/openai/request"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// oneAtOnce is a rig whose key may have one call under way, and ten that wait.
func oneAtOnce(t *testing.T, wait time.Duration) *rig {
	one := limits.Subject{Name: "key:dev", Concurrency: limits.Concurrency{Limit: 1, Queue: 10, Wait: wait}}
	return newRig(t, gateway.Config{Limits: gateway.Limits{
		Keys: map[string]*gateway.KeyLimits{"dev": {Subjects: []limits.Subject{one}}},
	}}).start(t, t.Context())
}

func (r *rig) wantCalls(t *testing.T, subject string, inside, waiting int) {
	t.Helper()
	if in, queue := r.state.Concurrency.InUse(subject); in != inside || queue != waiting {
		t.Errorf("%s: %d calls inside and %d waiting, want %d and %d", subject, in, queue, inside, waiting)
	}
}

// net/http sees an HTTP/1 client leave only when the body has been read.
func TestWhoWaitsHasSentASmallBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneAtOnce(t, time.Minute)
		first := r.begin(t)
		if err := first.AdmitCaller(httptest.NewRecorder(), post(strings.NewReader("{}"), 2)); err != nil {
			t.Fatal(err)
		}
		for i, c := range []struct {
			name   string
			size   int64
			change func(*http.Request)
			ahead  bool
		}{
			{"small", 256 << 10, func(*http.Request) {}, true},
			{"large", 256<<10 + 1, func(*http.Request) {}, false},
			{"of unknown length", 1000, func(r *http.Request) { r.ContentLength = -1 }, false},
			{"held back until it is asked for", 1000, func(r *http.Request) { r.Header.Set("Expect", "100-continue") }, false},
			{"where departures are seen anyway", 1000, func(r *http.Request) { r.ProtoMajor = 2 }, false},
		} {
			source := &endless{}
			ctx, leave := context.WithCancel(t.Context())
			request := post(io.LimitReader(source, c.size), c.size).WithContext(ctx)
			c.change(request)
			call := r.beginNumbered(t, i+2)
			ended := make(chan error)
			go func() { ended <- call.AdmitCaller(httptest.NewRecorder(), request) }()
			synctest.Wait()
			r.wantCalls(t, "key:dev", 1, 1)
			if ahead := source.read > 0; ahead != c.ahead || call.HasRead() != c.ahead {
				t.Errorf("%s: %d bytes are read of who waits", c.name, source.read)
			}
			leave()
			wantFault(t, <-ended, apierror.ClientGone, "the client left")
			r.wantCalls(t, "key:dev", 1, 0)
			call.Finish()
		}
		next := r.beginNumbered(t, 10)
		request := post(strings.NewReader("{}"), 2)
		admitted := make(chan error)
		go func() { admitted <- next.AdmitCaller(httptest.NewRecorder(), request) }()
		synctest.Wait()
		first.Finish()
		if err := <-admitted; err != nil {
			t.Fatal(err)
		}
		if body, err := next.ReadBody(httptest.NewRecorder(), request); err != nil || string(body) != "{}" {
			t.Errorf("the body that was read ahead: %q, %v", body, err)
		}
		next.Finish()
		if used := r.state.Memory.Used(); used != 0 {
			t.Errorf("%d bytes were not given back", used)
		}
		r.wantCalls(t, "key:dev", 0, 0)
	})
}

// upload is a body that comes as a test writes it, on a connection with deadlines.
type upload struct {
	*httptest.ResponseRecorder
	*io.PipeReader
}

func (u upload) SetReadDeadline(at time.Time) error {
	if !at.IsZero() {
		_ = u.PipeReader.CloseWithError(os.ErrDeadlineExceeded)
	}
	return nil
}

// A body that does not come to its end keeps no place in the queue for longer
// than the queue allows, and one that does not come at all, or badly, none.
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
				first := r.begin(t)
				if err := first.AdmitCaller(httptest.NewRecorder(), post(strings.NewReader("{}"), 2)); err != nil {
					t.Fatal(err)
				}
				reader, writer := io.Pipe()
				call, begun := r.beginNumbered(t, 2), time.Now()
				go c.send(writer)
				err := call.AdmitCaller(upload{httptest.NewRecorder(), reader}, post(reader, 1000))
				wantFault(t, err, c.code, "")
				if waited := time.Since(begun); waited != c.after {
					t.Errorf("after %v", waited)
				}
				call.Finish()
				r.wantCalls(t, "key:dev", 1, 0)
				first.Finish()
			})
		})
	}
}

// An upload whose call gets its place meanwhile goes on.
func TestAnUploadOutlastsTheWaitOnceItHasAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := oneAtOnce(t, 3*time.Second)
		first := r.begin(t)
		if err := first.AdmitCaller(httptest.NewRecorder(), post(strings.NewReader("{}"), 2)); err != nil {
			t.Fatal(err)
		}
		reader, writer := io.Pipe()
		go func() {
			time.Sleep(time.Second)
			first.Finish()
			time.Sleep(time.Minute)
			_, _ = writer.Write([]byte("{}"))
			_ = writer.Close()
		}()
		call := r.beginNumbered(t, 2)
		defer call.Finish()
		if err := call.AdmitCaller(upload{httptest.NewRecorder(), reader}, post(reader, 2)); err != nil {
			t.Error(err)
		}
		r.wantCalls(t, "key:dev", 1, 0)
	})
}

// Who waits for a model leaves the gateway to the calls of others.
func TestWhoWaitsForAModelKeepsNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := limits.Subject{Name: "gateway", Concurrency: limits.Concurrency{Limit: 2}}
		one := limits.Subject{Name: "model:acme/slow", Concurrency: limits.Concurrency{Limit: 1, Queue: 10, Wait: time.Minute}}
		r := newRig(t, gateway.Config{Limits: gateway.Limits{
			Keys:   map[string]*gateway.KeyLimits{"dev": {Subjects: []limits.Subject{both}}},
			Models: []gateway.ModelLimits{{Pattern: "acme/slow", Subject: one}},
		}}).start(t, t.Context())
		serial := 0
		admit := func(model string) (*gateway.Call, error) {
			serial++
			call := r.beginNumbered(t, serial)
			if err := call.AdmitCaller(httptest.NewRecorder(), post(strings.NewReader("{}"), 2)); err != nil {
				return call, err
			}
			if err := call.Admit(t.Context(), provider.Chat, model); err != nil {
				return call, err
			}
			return call, call.AdmitDemand(t.Context(), request.RequestedLimits{}, "messages")
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
			waited.Finish()
		}()
		synctest.Wait()
		r.wantCalls(t, "model:acme/slow", 1, 1)
		other, err := admit("acme/fast")
		if err != nil {
			t.Errorf("one call at work and one that waits for a model, of two: %v", err)
		}
		atWork.Finish()
		synctest.Wait()
		other.Finish()
		r.wantCalls(t, "model:acme/slow", 0, 0)
		r.wantCalls(t, "gateway", 0, 0)
	})
}
