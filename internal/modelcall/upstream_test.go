package modelcall

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
)

// silent never answers; it ends with the request's context.
func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// breaking breaks off after the beginning of an answer.
func breaking(beginning string) roundTrip {
	return func(*http.Request) (*http.Response, error) {
		resp, _ := answering(200, beginning)(nil)
		resp.Body = io.NopCloser(io.MultiReader(resp.Body, iotest.ErrReader(io.ErrUnexpectedEOF)))
		return resp, nil
	}
}

// dripping answers with a piece after each pause and is silent then, until the request's context
// ends.
func dripping(pauses ...time.Duration) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		reader, writer := io.Pipe()
		go func() {
			for _, pause := range pauses {
				time.Sleep(pause) // the bubble's clock
				if _, err := writer.Write([]byte("data: {}\n\n")); err != nil {
					return
				}
			}
			<-r.Context().Done()
			_ = writer.CloseWithError(r.Context().Err())
		}()
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: reader}, nil
	}
}

// inBubble runs an admitted call against a provider on a clock of its own.
func inBubble(t *testing.T, rt roundTrip, run func(t *testing.T, r *rig, c *call)) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, rt)
		c := r.begin(t, hello)
		if err := c.admit(t.Context()); err != nil {
			t.Fatal(err)
		}
		run(t, r, c)
		c.req.Finish()
		if r.memory.Used() != 0 {
			t.Errorf("%d bytes were not given back", r.memory.Used())
		}
	})
}

func TestAProviderThatDoesNotAnswerIsTimedOut(t *testing.T) {
	inBubble(t, silent, func(t *testing.T, _ *rig, c *call) {
		begun := time.Now()
		wantRefusal(t, c.sendAndRead(t.Context()), apierror.UpstreamTimeout, "did not answer within 10m0s")
		if took := time.Since(begun); took != 10*time.Minute {
			t.Errorf("after %s", took)
		}
	})
}

// Every read begins the idle timeout again: a long answer is not a silent one.
func TestOnlySilenceEndsAnAnswer(t *testing.T) {
	inBubble(t, dripping(4*time.Minute, 4*time.Minute, 4*time.Minute), func(t *testing.T, _ *rig, c *call) {
		begun := time.Now()
		wantRefusal(t, c.sendAndRead(t.Context()), apierror.UpstreamTimeout, "sent nothing for 5m0s")
		if took := time.Since(begun); took != 17*time.Minute {
			t.Errorf("after %s, want the 12 minutes of the answer and 5 of silence", took)
		}
	})
}

func TestTheUpstreamRequestEndsWithTheClient(t *testing.T) {
	inBubble(t, silent, func(t *testing.T, _ *rig, c *call) {
		client, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		begun := time.Now()
		wantRefusal(t, c.sendAndRead(client), apierror.ClientGone, "the client left")
		if took := time.Since(begun); took != time.Second {
			t.Errorf("after %s", took)
		}
	})
}

func TestAShutdownEndsTheUpstreamRequest(t *testing.T) {
	inBubble(t, dripping(0), func(t *testing.T, r *rig, c *call) {
		time.AfterFunc(time.Second, func() { r.calls.Interrupt(request.ErrShutdown) })
		wantRefusal(t, c.sendAndRead(t.Context()), apierror.ShuttingDown, "shutting down")
	})
	inBubble(t, silent, func(t *testing.T, r *rig, c *call) {
		r.calls.Interrupt(request.ErrShutdown)
		wantRefusal(t, c.sendAndRead(t.Context()), apierror.ShuttingDown, "") // one that is sent only now
	})
}

// With draining an answer is read on after its client has left, so that its usage is known, but not
// for longer than configured.
func TestADrainedAnswerIsReadForAWhile(t *testing.T) {
	for _, c := range []struct {
		drain, after time.Duration
	}{{0, time.Second}, {10 * time.Second, 11 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, dripping(0), func(r *rig) { r.Limits.Drain = c.drain })
			call := r.begin(t, hello)
			if err := call.admit(t.Context()); err != nil {
				t.Fatal(err)
			}
			client, leave := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, leave)
			begun := time.Now()
			wantRefusal(t, call.sendAndRead(client), apierror.ClientGone, "")
			if took := time.Since(begun); took != c.after {
				t.Errorf("drain %s: after %s", c.drain, took)
			}
			call.req.Finish()
		})
	}
}

// A call that finishes before the drain ends leaves no timer.
func TestDrainingEndsWithTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(drain)
		deps := &newRig(t, roundTrip(silent), func(r *rig) { r.Limits.Drain = time.Hour }).Deps
		client, leave := context.WithCancel(t.Context())
		ctx, cancel := d.context(client, deps, "req_1")
		defer cancel(nil)
		leave()
		synctest.Wait()
		if ctx.Err() != nil {
			t.Error("the upstream request ended with the client")
		}
		d.stop()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if ctx.Err() != nil {
			t.Error("the timer ran after the call")
		}
	})
}

func TestTheMemoryOfASentRequestIsFreed(t *testing.T) {
	inBubble(t, dripping(0), func(t *testing.T, r *rig, c *call) {
		held := r.memory.Used()
		a := attempts{queue: c.order(), alone: c.alone()}
		s := c.advance(t.Context(), &a)
		if c.begin(&a, s, nil); a.failed != nil {
			t.Fatal(a.failed)
		}
		resp, err := c.attempt.upstream.send(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if s.Body != nil || c.body.Data() != nil {
			t.Error("the request is kept while its answer comes")
		}
		if kept := int64(len(hello)); held < 4096 || r.memory.Used() > kept { // net/http may still read a short one
			t.Errorf("%d bytes before and %d after the provider has answered", held, r.memory.Used())
		}
		c.req.Finish() // ends the request, and with it the provider's goroutine
		_ = resp.Body.Close()
	})
}
