package console

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/request"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
)

// looked is a console whose page of limits says for whom, and how often, it was made.
type looked struct {
	door
	mu   sync.Mutex
	made int
	hold func(n int, r *http.Request) // before the answer of the n-th
}

func openLooked(change ...func(*Config)) *looked {
	l := &looked{hold: func(int, *http.Request) {}}
	l.door = open(append(change, func(c *Config) {
		c.API = func(by request.Caller) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/api/v1/limits" {
					http.NotFound(w, r)
					return
				}
				l.mu.Lock()
				l.made++
				n := l.made
				l.mu.Unlock()
				if l.hold(n, r); r.Context().Err() != nil {
					w.WriteHeader(499)
					return
				}
				_, _ = fmt.Fprintf(w, `{"data":[{"subject":"key:made %d for %s %v %v","type":"budget","limit":1,"unit":"usd"}]}`, n, by.Name, by.Scopes, by.User)
			})
		}
	})...)
	return l
}

func (l *looked) times() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.made
}

// poll reads the live part of the page of limits again.
func (l *looked) poll(cookie string, header ...string) *httptest.ResponseRecorder {
	return l.ask(http.MethodGet, "/console/limits", cookie, append(header, "Gatehouse-Live", "1")...)
}

func (l *looked) wantPoll(t *testing.T, what, cookie string, made int, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	w := l.poll(cookie, header...)
	if want := fmt.Sprintf("made %d for ", made); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), want) {
		t.Errorf("%s: not %q: %d %s", what, want, w.Code, w.Body)
	}
	return w
}

func TestPagesOfOneKeyShareWhatTheyReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openLooked()
		ops, again := l.signIn(t, opsSecret), l.signIn(t, opsSecret)
		begun := make(chan struct{})
		l.hold = func(int, *http.Request) { <-begun }
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { l.wantPoll(t, "together", ops, 1) })
		}
		synctest.Wait()
		close(begun)
		all.Wait()
		w := l.wantPoll(t, "another session of the key", again, 1)
		if body := w.Body.String(); strings.Contains(body, "<html") || !strings.Contains(body, `id="limits"`) || w.Header().Get("Content-Length") != fmt.Sprint(len(body)) ||
			w.Header().Get("Content-Type") != "text/html; charset=utf-8" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%v %s", w.Header(), body)
		}
		if page := l.ask(http.MethodGet, "/console/limits", ops).Body.String(); !strings.Contains(page, "made 2 for ") || !strings.Contains(page, "<html") {
			t.Errorf("a page that is opened is not made anew: %s", page)
		}
		l.wantPoll(t, "after a page was opened", ops, 1)
		time.Sleep(shareFor)
		l.wantPoll(t, "later", ops, 3)
	})
}

// What one key sees no other does, nor the same key with other rights, another person, or at another
// address.
func TestNoOtherCallerGetsASharedAnswer(t *testing.T) {
	l := openLooked()
	const secondSecret = "gk-console-ops-the-second-secret"
	l.gateway.change(func(all map[string]*keys.Key) { all[secondSecret] = all[opsSecret] })
	second, ops, dev := l.signIn(t, secondSecret), l.signIn(t, opsSecret), l.signIn(t, devSecret)
	l.wantPoll(t, "ops", ops, 1)
	if w := l.wantPoll(t, "another key", dev, 2); !strings.Contains(w.Body.String(), "for dev ") {
		t.Errorf("dev sees %s", w.Body)
	}
	other := newTestRequest(http.MethodGet, "/console/limits", nil, "Gatehouse-Live", "1", "Cookie", secureCookie+"="+ops)
	other.Host = "other.example.com"
	if w := l.do(other); !strings.Contains(w.Body.String(), "made 3 for ops") {
		t.Errorf("another address: %s", w.Body)
	}
	if w := l.ask(http.MethodGet, "/console/limits?min_used=0.5", ops, "Gatehouse-Live", "1"); !strings.Contains(w.Body.String(), "made 4 for ops") {
		t.Errorf("another query: %s", w.Body)
	}
	l.wantPoll(t, "another secret", second, 5)
	l.gateway.change(func(all map[string]*keys.Key) {
		less := *all[opsSecret]
		less.Scopes = keys.LimitsRead
		all[opsSecret] = &less
	})
	if w := l.wantPoll(t, "other rights", ops, 6); !strings.Contains(w.Body.String(), "limits:read") {
		t.Errorf("with other rights: %s", w.Body)
	}
	l.gateway.change(func(all map[string]*keys.Key) { delete(all, opsSecret) })
	wantSignIn(t, "a key that is gone", l.poll(ops))
	if l.times() != 6 {
		t.Errorf("made %d times", l.times())
	}
}

func TestNoOtherPersonGetsASharedAnswer(t *testing.T) {
	l := openLooked(func(c *Config) {
		c.OnlyNamed, c.Named = true, &Users{
			Of:   func(r *http.Request) string { return r.Header.Get("Test-User") },
			Keys: map[string]string{"alice": "ops", "bob": "ops"}, Holder: c.Gateway.(*fakeGateway).CallerNamed,
		}
	})
	cookies := map[string]string{}
	for _, user := range []string{"alice", "bob"} { // a poll signs nobody in
		cookies[user] = cookieOf(t, l.ask(http.MethodGet, "/console/about", "", "Test-User", user))
	}
	l.wantPoll(t, "alice", cookies["alice"], 1, "Test-User", "alice")
	if w := l.wantPoll(t, "bob", cookies["bob"], 2, "Test-User", "bob"); !strings.Contains(w.Body.String(), "bob") {
		t.Errorf("bob sees %s", w.Body)
	}
	l.wantPoll(t, "alice again", cookies["alice"], 1, "Test-User", "alice")
}

// Whoever has changed something sees it: no answer is shared that was begun before the change ended.
func TestAChangeIsSeenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openLooked()
		ops := l.signIn(t, opsSecret)
		change := func() {
			l.ask(http.MethodPost, "/console/theme", ops, sameOrigin...)
		}
		l.wantPoll(t, "before", ops, 1)
		change()
		l.wantPoll(t, "after a change", ops, 2)

		slow := make(chan struct{})
		l.hold = func(n int, _ *http.Request) {
			if n == 3 {
				<-slow
			}
		}
		change()
		var before sync.WaitGroup
		before.Go(func() { l.wantPoll(t, "begun before the change", ops, 3) })
		synctest.Wait()
		change()
		l.wantPoll(t, "while that is being made", ops, 4)
		close(slow)
		before.Wait()
		l.wantPoll(t, "when that is made", ops, 4)
	})
}

func TestAPageThatWasNotMadeIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openLooked()
		ops := l.signIn(t, opsSecret)
		l.hold = func(n int, r *http.Request) {
			if n == 1 {
				<-r.Context().Done()
			}
		}
		r := newTestRequest(http.MethodGet, "/console/limits", nil, "Gatehouse-Live", "1", "Cookie", secureCookie+"="+ops)
		gone, leave := context.WithCancel(r.Context())
		var both sync.WaitGroup
		both.Go(func() { l.do(r.WithContext(gone)) })
		synctest.Wait()
		both.Go(func() { l.wantPoll(t, "who waits", ops, 2) })
		synctest.Wait()
		leave()
		both.Wait()
	})
}

// The memory of shared answers has a bound; beyond it pages are made as without it.
func TestSharedAnswersAreBounded(t *testing.T) {
	l := openLooked()
	ops := l.signIn(t, opsSecret)
	for i := range 2 * maxPolls {
		w := l.ask(http.MethodGet, fmt.Sprintf("/console/limits?min_used=0.%03d", i), ops, "Gatehouse-Live", "1")
		if _, err := io.Copy(io.Discard, w.Body); w.Code != http.StatusOK || err != nil {
			t.Fatalf("%d %v", w.Code, err)
		}
	}
	if n := len(l.polls.made); n != maxPolls {
		t.Errorf("%d answers are kept", n)
	}
}

// A part of a page that says that something could not be read is not for others, if it was not read because
// the browser left.
func TestAPageWhoseReaderLeftIsNotShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		d := open(func(c *Config) {
			c.API = func(request.Caller) http.Handler {
				return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == "/api/v1/limits" && asked.Add(1) == 1 {
						<-r.Context().Done()
						w.WriteHeader(http.StatusServiceUnavailable)
						_, _ = io.WriteString(w, `{"error":{"message":"not read","code":"storage_unavailable"}}`)
						return
					}
					if r.URL.Path == "/api/v1/key" {
						_, _ = io.WriteString(w, `{"data":{}}`)
						return
					}
					_, _ = io.WriteString(w, `{"data":[]}`)
				})
			}
		})
		d.gateway.change(func(all map[string]*keys.Key) { all[opsSecret] = &keys.Key{Name: "ops", Scopes: keys.LimitsRead} })
		ops := d.signIn(t, opsSecret)
		r := newTestRequest(http.MethodGet, "/console/", nil, "Gatehouse-Live", "1", "Cookie", secureCookie+"="+ops)
		gone, leave := context.WithCancel(r.Context())
		var both sync.WaitGroup
		both.Go(func() { d.do(r.WithContext(gone)) })
		synctest.Wait()
		both.Go(func() {
			if w := d.ask(http.MethodGet, "/console/", ops, live...); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "not read") {
				t.Errorf("who stays reads: %d %s", w.Code, w.Body)
			}
		})
		synctest.Wait()
		leave()
		both.Wait()
	})
}

// A file is sent while it is read, whatever the request says: it has no end that fits into memory.
func TestAFileIsNoPageToShare(t *testing.T) {
	const line = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n"
	d := open(func(c *Config) {
		c.API = func(request.Caller) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for range maxAnswer/len(line) + 1 {
					_, _ = io.WriteString(w, line)
				}
			})
		}
	})
	w := d.ask(http.MethodGet, "/console/activity.csv", d.signIn(t, opsSecret), live...)
	if want := (maxAnswer/len(line) + 1) * len(line); w.Code != http.StatusOK || w.Body.Len() != want {
		t.Errorf("%d with %d bytes of %d", w.Code, w.Body.Len(), want)
	}
	if n := len(d.polls.made); n != 0 {
		t.Errorf("%d answers are kept", n)
	}
}

// What the server does to the header of one answer is not done to that of others.
func TestASharedAnswerHasAHeaderOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := openLooked()
		ops := l.signIn(t, opsSecret)
		l.wantPoll(t, "first", ops, 1).Header()["Content-Type"][0] = "changed"
		if got := l.wantPoll(t, "second", ops, 1).Header().Get("Content-Type"); got != "text/html; charset=utf-8" {
			t.Errorf("Content-Type %q", got)
		}
	})
}
