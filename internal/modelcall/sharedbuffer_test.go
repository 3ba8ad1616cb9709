package modelcall

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
)

// slowReader is a connection that reads on after the provider has answered: the first half of a
// request at once, the rest when it may.
type slowReader struct {
	goOn chan struct{}
	read chan []byte // the whole request
}

func newSlowReader() *slowReader { return &slowReader{make(chan struct{}), make(chan []byte, 1)} }

func (s *slowReader) roundTrip(answer roundTrip) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		half := make([]byte, r.ContentLength/2)
		if _, err := io.ReadFull(r.Body, half); err != nil {
			return nil, err
		}
		go func() {
			<-s.goOn
			rest, _ := io.ReadAll(r.Body)
			s.read <- append(half, rest...)
		}()
		return answer(r)
	}
}

// The buffer of a request is used again only when no connection of any attempt reads it any more,
// however the call ended.
func TestABufferThatAnAttemptStillReadsIsNotReused(t *testing.T) {
	const size = 1 << 20
	body := func(fill string) string {
		return `{"model":"fast","messages":[{"role":"user","content":"` + strings.Repeat(fill, size) + `"}],"max_tokens":100}`
	}
	panicking := roundTrip(func(*http.Request) (*http.Response, error) { panic("a bug") })
	for name, last := range map[string]roundTrip{
		"an answer": answering(200, chatAnswerBody), "a failure": answering(400, `{}`), "a stream": eventsOf(firstWord + lastWord + doneWord), "a panic": panicking,
	} {
		for _, stream := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				readers := []*slowReader{newSlowReader(), newSlowReader(), newSlowReader()}
				answers := []roundTrip{answering(503, `{}`), answering(503, `{}`), last}
				f := newFleet(t, families[0], []string{"echo", "echo", "echo"})
				for i, r := range readers {
					f.transports[targetNames[i]] = r.roundTrip(answers[i])
				}
				call := func(fill string) {
					text := body(fill)
					if stream {
						text = strings.TrimSuffix(text, "}") + `,"stream":true}`
					}
					defer func() { _ = recover() }()
					f.send(t, text)
				}
				call("a")
				if len(f.asked) < len(readers) {
					t.Fatalf("%s: asked %v", name, f.asked)
				}
				for _, name := range targetNames {
					f.transports[name] = answering(200, chatAnswerBody)
				}
				for i, r := range readers {
					for range 2 {
						call("b") // takes the buffer if it is free
					}
					close(r.goOn)
					if i == len(readers)-1 && name == "a panic" {
						break
					}
					if got := <-r.read; bytes.Count(got, []byte("a")) < size || bytes.Contains(got, []byte("bb")) {
						t.Errorf("%s, stream %v: attempt %d sent %d bytes of its request, and %d of another", name, stream, i+1, bytes.Count(got, []byte("a")), bytes.Count(got, []byte("b")))
					}
					synctest.Wait()
				}
				f.wantNothingHeld(t)
			})
		}
	}
}
