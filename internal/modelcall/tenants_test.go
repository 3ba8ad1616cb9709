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

	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
)

// Calls use the memory of others again. Over one HTTP/2 connection, with answers of all lengths,
// clients that leave in the middle and calls that are refused, nobody gets a byte of another's.
func TestNoCallerGetsTheBytesOfAnother(t *testing.T) {
	long := func(mark string) string { return strings.Repeat(mark, 1+len(mark)*int(mark[len(mark)-2]-'0')*40) }
	r := newRig(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(req.Body)
		mark := jsontest.String(t, body, "user")
		if n := strings.Count(string(body), "<"); n != 1 {
			t.Errorf("the provider of %s got %s", mark, body)
		}
		switch text := long(mark); {
		case jsontest.Has(t, body, `{"stream":true}`):
			word := strings.Replace(firstWord, "Hel", text, 1)
			return eventStream(io.NopCloser(io.MultiReader(strings.NewReader(word), strings.NewReader(word+word), strings.NewReader(lastWord+doneWord))))(req)
		case mark[1] == '3':
			return answering(429, `{"error":{"message":"`+mark+`"}}`)(req)
		default:
			return answering(200, strings.Replace(chatAnswerBody, "Hello.", text, 1))(req)
		}
	}))
	var begin sync.Mutex // of requests, which the rig numbers
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		begin.Lock()
		q := r.request(t, w, req)
		begin.Unlock()
		defer q.Finish()
		if err := Serve(&r.Deps, q, wire.Chat, openaiAPI{}); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
		}
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	var all sync.WaitGroup
	for caller := range 6 {
		all.Go(func() {
			for i := range 40 {
				mark := fmt.Sprintf("<%d-%02d>", caller, i)
				body := fmt.Sprintf(`{"model":"acme/m","user":"%s","stream":%v,"messages":[{"role":"user","content":"hello"}]}`, mark, i%2 == 0)
				ctx, leave := context.WithCancel(t.Context())
				req, _ := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader(body))
				req.Header.Set("Content-Type", "application/json")
				resp, err := server.Client().Do(req)
				if err != nil {
					leave()
					t.Error(err)
					return
				}
				source := io.Reader(resp.Body)
				if i%3 == 0 {
					source = io.LimitReader(source, 100) // and the rest is reset
				}
				got, _ := io.ReadAll(source)
				leave()
				_ = resp.Body.Close()
				if strings.Count(string(got), "<") > strings.Count(string(got), mark[:min(len(mark), 2)]) {
					t.Errorf("%s got %.200s", mark, got)
				}
				if i%3 != 0 && caller != 3 && !strings.Contains(string(got), mark) {
					t.Errorf("%s got %.200q", mark, got)
				}
			}
		})
	}
	all.Wait()
}
