package testprovider_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/jsontest"
	"github.com/gatehouse-proxy/gatehouse/internal/testprovider"
)

// open starts a streamed call with the real timers of the bubble it runs in.
func open(t *testing.T, ctx context.Context, tr *testprovider.Transport, path, body string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

const slowChat = `{"model":"slow","stream":true,"messages":[{"role":"user","content":"a b"}]}`

func TestWordsComeAtTheirPace(t *testing.T) {
	for _, tt := range []struct {
		name, path, body string
		tr               testprovider.Transport
		pace             time.Duration
	}{
		{"slow", "/chat/completions", slowChat, testprovider.Transport{}, 200 * time.Millisecond},
		{"three choices together", "/chat/completions", strings.Replace(slowChat, "{", `{"n":3,`, 1), testprovider.Transport{}, 200 * time.Millisecond},
		{"no delay", "/chat/completions", strings.Replace(slowChat, "slow", "echo", 1), testprovider.Transport{}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start, words := time.Now(), 0
				resp := open(t, t.Context(), &tt.tr, tt.path, tt.body)
				lines := bufio.NewScanner(resp.Body)
				for lines.Scan() {
					if line := lines.Text(); strings.HasPrefix(jsontest.String(t, line, "content"), " ") && jsontest.Has(t, line, `{"index":0}`) {
						words++
						// The first word, "You", has no space before it.
						if got, want := time.Since(start), time.Duration(words+1)*tt.pace; got != want {
							t.Errorf("word %d after %s, want %s", words, got, want)
						}
					}
				}
				if lines.Err() != nil || words < 3 {
					t.Errorf("%d words, %v", words, lines.Err())
				}
				if got, want := time.Since(start), 4*tt.pace; got != want {
					t.Errorf("the end came after %s, want %s", got, want)
				}
			})
		})
	}
}

func TestUnstreamedReplyTakesAsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var tr testprovider.Transport
		resp := open(t, t.Context(), &tr, "/chat/completions", strings.Replace(slowChat, "true", "false", 1))
		if got := time.Since(start); got != 800*time.Millisecond || resp.Header.Get("Openai-Processing-Ms") != "800" {
			t.Errorf("took %s, said %s ms", got, resp.Header.Get("Openai-Processing-Ms"))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", strings.NewReader(strings.Replace(slowChat, "true", "false", 1)))
		start = time.Now()
		if _, err := tr.RoundTrip(req); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 300*time.Millisecond {
			t.Errorf("ended with %v after %s", err, time.Since(start))
		}
	})
}

// Each Read returns from one event only and waits for the delay of its word:
// nothing is made ahead of the reader.
func TestNothingIsMadeAheadOfTheReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resp := open(t, t.Context(), newTransport(), "/chat/completions", slowChat)
		defer resp.Body.Close()
		start, p := time.Now(), make([]byte, 64<<10)
		for event := range 5 { // the role, four words
			n, err := resp.Body.Read(p)
			if err != nil || strings.Count(string(p[:n]), "data: ") != 1 || !strings.HasSuffix(string(p[:n]), "\n\n") {
				t.Fatalf("read %q, %v", p[:n], err)
			}
			if got, want := time.Since(start), time.Duration(event)*200*time.Millisecond; got != want {
				t.Fatalf("event %d after %s, want %s", event, got, want)
			}
		}
	})
}

func TestSmallReadsGiveTheSameStream(t *testing.T) {
	body := chatWith(`"stream":true`)
	whole, _ := io.ReadAll(open(t, t.Context(), newTransport(), "/chat/completions", body).Body)
	var small []byte
	stream := open(t, t.Context(), newTransport(), "/chat/completions", body).Body
	for p := make([]byte, 3); ; {
		n, err := stream.Read(p)
		small = append(small, p[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if string(whole) != string(small) {
		t.Errorf("got\n%s\nwant\n%s", small, whole)
	}
}

// A synctest bubble also fails if a goroutine is left behind.
func TestWaitingReadEndsAtOnce(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(cancel func(), body io.Closer)
		want error
	}{
		{"when the request is cancelled", func(cancel func(), _ io.Closer) { cancel() }, context.Canceled},
		{"when the body is closed", func(_ func(), body io.Closer) { body.Close(); body.Close() }, http.ErrBodyReadAfterClose},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var tr testprovider.Transport
				resp := open(t, ctx, &tr, "/chat/completions", slowChat)
				ended := make(chan error)
				go func() {
					_, err := io.Copy(io.Discard, resp.Body)
					ended <- err
				}()
				synctest.Wait() // the reader waits for the first word
				start := time.Now()
				tt.end(cancel, resp.Body)
				if err := <-ended; !errors.Is(err, tt.want) || time.Since(start) != 0 {
					t.Errorf("ended with %v after %s, want %v at once", err, time.Since(start), tt.want)
				}
				if _, err := resp.Body.Read(make([]byte, 1)); !errors.Is(err, tt.want) {
					t.Errorf("reading on: %v", err)
				}
			})
		})
	}
}

func TestFailingModelBreaksItsStreamOff(t *testing.T) {
	for _, tt := range []struct {
		name, path, body, word string
		words                  int
	}{
		{"chat", "/chat/completions", `{"model":"fail","stream":true,"messages":[{"role":"user","content":"a b c"}]}`, `"delta":{"content":"`, 4},
		{"chat of one word", "/chat/completions", `{"model":"fail","stream":true,"max_tokens":1,"messages":[{"role":"user"}]}`, `"delta":{"content":"`, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := io.ReadAll(open(t, t.Context(), newTransport(), tt.path, tt.body).Body)
			if err != io.ErrUnexpectedEOF {
				t.Errorf("ended with %v", err)
			}
			stream := string(data)
			if n := strings.Count(strings.ReplaceAll(stream, `"role":"assistant",`, ""), tt.word); n != tt.words {
				t.Errorf("%d words, want %d:\n%s", n, tt.words, stream)
			}
			for _, end := range []string{"[DONE]", `"finish_reason":"`} {
				if strings.Contains(stream, end) {
					t.Errorf("a broken stream says %s", end)
				}
			}
		})
	}
}

func BenchmarkChatStream(b *testing.B) {
	var tr testprovider.Transport
	const body = `{"model":"lorem","stream":true,"messages":[{"role":"user","content":"hi"}]}`
	b.ReportAllocs()
	for b.Loop() {
		req, _ := http.NewRequest(http.MethodPost, base+"/chat/completions", strings.NewReader(body))
		resp, err := tr.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			b.Fatal(err)
		}
	}
}
