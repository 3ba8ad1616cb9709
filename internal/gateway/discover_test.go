package gateway_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

var nopLogger = zap.NewNop()

// lister is a provider's /models.
type lister struct {
	mu     sync.Mutex
	answer roundTrip
	asked  int
}

func (l *lister) set(answer roundTrip) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.answer = answer
}

func (l *lister) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

func (l *lister) RoundTrip(r *http.Request) (*http.Response, error) {
	l.mu.Lock()
	l.asked++
	answer := l.answer
	l.mu.Unlock()
	return answer(r)
}

func listing(names ...string) roundTrip {
	return answering(200, `{"object":"list","data":[{"id":"`+strings.Join(names, `"},{"id":"`)+`"}]}`)
}

// discovering is a gateway that asks the lister every ten minutes.
func discovering(t *testing.T, l *lister, state *gateway.State) *rig {
	p := newProvider(t, "acme", true, l)
	return newRig(t, gateway.Config{
		State: state, Providers: []*provider.Provider{p}, Discover: []gateway.Discovery{{Provider: p, Every: 10 * time.Minute}},
	}, catalog.Source{Provider: "acme", Discover: true})
}

func (r *rig) names(t *testing.T) string {
	t.Helper()
	credential, err := r.Authenticate(secret)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range r.Models(credential.Key) {
		names = append(names, m.Name)
	}
	return strings.Join(names, " ")
}

func TestDiscoveryKeepsTheLastListOverAFailedRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lister{answer: listing("a", "b")}
		r := discovering(t, l, nil)
		ctx, stop := context.WithCancel(t.Context())
		if err := r.Start(ctx, activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		step := func(after time.Duration, want string, asked int) {
			t.Helper()
			time.Sleep(after) // the bubble's clock
			synctest.Wait()
			if got := r.names(t); got != want || l.count() != asked {
				t.Errorf("models %q after %d questions, want %q after %d", got, l.count(), want, asked)
			}
		}
		step(0, "a b", 1)
		l.set(func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") })
		step(10*time.Minute, "a b", 2)
		l.set(answering(500, "no"))
		step(30*time.Second, "a b", 3) // a failure is retried soon
		l.set(answering(200, "<html>"))
		step(30*time.Second, "a b", 4)
		l.set(answering(200, `{"data":[`+strings.Repeat(" ", catalog.MaxDiscoveryBytes)+`]}`))
		step(30*time.Second, "a b", 5)
		l.set(silent)
		step(time.Minute, "a b", 6)
		l.set(listing("c"))
		step(30*time.Second, "c", 7)
		step(10*time.Minute-time.Second, "c", 7)
		step(time.Second, "c", 8)

		// The next configuration knows the list before it has asked.
		l.set(silent)
		next := discovering(t, l, r.state)
		if err := next.Start(ctx, activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		if got := next.names(t); got != "c" {
			t.Errorf("after a reload the models are %q", got)
		}
		stop()
		r.Close()
		next.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
}
