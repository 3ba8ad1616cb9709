package toolcall

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/mcp"
)

// Open streams are bounded by a number of their own.
func TestAKeyHasABoundOfOpenStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, then(""))
		ctx, leave := context.WithCancel(t.Context())
		ended := make(chan struct{})
		for range maxStreams {
			go func() {
				defer func() { ended <- struct{}{} }()
				w := httptest.NewRecorder()
				q := old(http.MethodGet, "", "").WithContext(ctx)
				r.ServeHTTP(w, q)
			}()
			synctest.Wait()
		}
		serial := r.serial
		if w := r.serve(old(http.MethodGet, "", "")); w.Code != 429 || !strings.Contains(w.Body.String(), "100 streams") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		leave()
		for range maxStreams {
			<-ended
		}
		if serial != maxStreams || len(r.rows) != maxStreams+1 {
			t.Errorf("%d requests, %d rows", serial, len(r.rows))
		}
		r.released(t)
	})
}

// What a client says while a tool waits for it must not wait for the tool.
func TestAnAnswerOfTheClientNeedsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived := make(chan struct{})
		r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return nil, err
			}
			if m, _ := mcp.Parse(body); m.Method == "" {
				close(arrived)
				return reply(202, "", strings.NewReader("")), nil
			}
			<-arrived
			return reply(200, asJSON, strings.NewReader(result)), nil
		}), func(r *rig) { limitedKey(limits.Subject{Concurrency: limits.Concurrency{Limit: 1}})(r) })
		ended := make(chan int)
		go func() {
			ended <- r.serve(old(http.MethodPost, "", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}`)).Code
		}()
		synctest.Wait()
		if w := r.serve(old(http.MethodPost, "", `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`)); w.Code != 202 || w.Body.Len() > 0 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if code := <-ended; code != 200 {
			t.Error(code)
		}
		if len(r.rows) != 2 || r.rows[0].Method != "response" && r.rows[1].Method != "response" { // the tool may be faster
			t.Errorf("%d rows", len(r.rows))
		}
	})
}
