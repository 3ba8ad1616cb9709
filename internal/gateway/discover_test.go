package gateway_test

import (
	"context"
	"errors"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
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
		State: state, Providers: []*provider.Provider{p}, Discover: []models.Discovery{{Provider: p, Every: 10 * time.Minute}},
	}, catalog.Source{Provider: "acme", Discover: true})
}

func (r *rig) names(t *testing.T) string {
	t.Helper()
	credential, err := r.Authenticate(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	models, err := r.Models().List(t.Context(), credential.Key)
	if err != nil {
		return string(apierror.From(err).Code)
	}
	for _, m := range models {
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

// refused is the code with which a call of the model is refused, "" if it is not, and
// how long that took.
func (r *rig) refused(t *testing.T, ctx context.Context, model string) (code apierror.Code, after time.Duration) {
	t.Helper()
	began := time.Now()
	if _, _, err := r.find(t, ctx, model); err != nil {
		code = apierror.From(err).Code
	}
	return code, time.Since(began)
}

func TestACallWaitsShortlyForAProvidersFirstList(t *testing.T) {
	for name, c := range map[string]struct {
		answer       roundTrip
		first, later apierror.Code
		after        time.Duration
		list         string
	}{
		"that comes":       {delayed(time.Second, listing("m")), "", "", time.Second, "m"},
		"that comes late":  {delayed(4*time.Second, listing("m")), apierror.NoProvider, "", 2 * time.Second, "no_provider_available"},
		"without it":       {delayed(time.Second, listing("other")), apierror.ModelNotFound, apierror.ModelNotFound, time.Second, "other"},
		"that is no list":  {delayed(time.Second, answering(500, "no")), apierror.NoProvider, apierror.NoProvider, time.Second, "no_provider_available"},
		"it does not have": {delayed(time.Second, answering(404, "no")), apierror.ModelNotCallable, apierror.ModelNotCallable, time.Second, ""},
		"that never comes": {silent, apierror.NoProvider, apierror.NoProvider, 2 * time.Second, "no_provider_available"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				r := discovering(t, &lister{answer: c.answer}, nil)
				if err := r.Start(ctx, activity.Retention{}); err != nil {
					t.Fatal(err)
				}
				listed := make(chan string, 1)
				go func() { listed <- r.names(t) }()
				gone, leave := context.WithCancel(t.Context())
				leave()
				if code, after := r.refused(t, gone, "acme/m"); code != apierror.ClientGone || after != 0 {
					t.Errorf("a client that has left: %q after %v", code, after)
				}
				if code, after := r.refused(t, t.Context(), "acme/m"); code != c.first || after != c.after {
					t.Errorf("the first call: %q after %v, want %q after %v", code, after, c.first, c.after)
				}
				if got := <-listed; got != c.list {
					t.Errorf("listed %q, want %q", got, c.list)
				}
				if code, after := r.refused(t, t.Context(), "other/m"); code != apierror.ModelNotFound || after != 0 {
					t.Errorf("another provider's model: %q after %v", code, after)
				}
				time.Sleep(3 * time.Second)
				if code, _ := r.refused(t, t.Context(), "acme/m"); code != c.later {
					t.Errorf("a later call: %q, want %q", code, c.later)
				}
				stop()
				r.Close()
				if err := r.state.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// delayed is a provider that thinks before it answers.
func delayed(by time.Duration, next roundTrip) roundTrip {
	return func(r *http.Request) (*http.Response, error) {
		select {
		case <-time.After(by):
			return next(r)
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
}

func TestAProviderThatStartsWithTheGatewayIsSoonAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lister{answer: answering(503, "starting")}
		r := discovering(t, l, nil)
		ctx, stop := context.WithCancel(t.Context())
		if err := r.Start(ctx, activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		for _, step := range []struct{ at, asked int }{{0, 1}, {1, 2}, {3, 3}, {7, 4}, {15, 5}, {31, 6}, {61, 7}, {91, 8}} {
			time.Sleep(time.Duration(step.at)*time.Second - time.Since(synctestEpoch))
			synctest.Wait()
			if l.count() != step.asked {
				t.Errorf("asked %d times within %d s, want %d", l.count(), step.at, step.asked)
			}
		}
		stop()
		r.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
}

// synctestEpoch is when the time of a bubble begins.
var synctestEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func TestOddEntriesOfAListAreWarnedOfOnceARefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, lines := observer.New(zapcore.WarnLevel)
		p := newProvider(t, "acme", true, &lister{answer: answering(200, `{"data":[{"id":"a"},null,7,{"id":"b"},{"id":"\u0007"}]}`)})
		r := newRig(t, gateway.Config{
			Logger: zap.New(core), Providers: []*provider.Provider{p}, Discover: []models.Discovery{{Provider: p, Every: time.Minute}},
		}, catalog.Source{Provider: "acme", Discover: true})
		ctx, stop := context.WithCancel(t.Context())
		if err := r.Start(ctx, activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := r.names(t); got != "a b" {
			t.Errorf("listed %q", got)
		}
		if lines.Len() != 2 {
			t.Errorf("%d lines after two refreshes", lines.Len())
		}
		cause, _ := lines.All()[0].ContextMap()["cause"].(string)
		for _, place := range []string{"data[1]", "data[2]", "data[4]"} {
			if !strings.Contains(cause, place) {
				t.Errorf("%s is not named: %s", place, cause)
			}
		}
		stop()
		r.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAListComesFromTheFirstEndpointThatHasOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, err := provider.New(provider.Config{Name: "acme", UserAgent: "gatehouse", Endpoints: []provider.EndpointConfig{
			{Name: "down", BaseURL: "http://down.invalid/v1"}, {Name: "up", BaseURL: "http://up.invalid/v1"}, {Name: "other", BaseURL: "http://other.invalid/v1"},
		}, Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return map[string]roundTrip{"down.invalid": answering(500, ""), "up.invalid": listing("m"), "other.invalid": listing("other")}[r.URL.Host](r)
		})})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		r := newRig(t, gateway.Config{Providers: []*provider.Provider{p}, Discover: []models.Discovery{{Provider: p, Every: time.Hour}}},
			catalog.Source{Provider: "acme", Discover: true}).start(t, ctx)
		if got := r.names(t); got != "m" {
			t.Errorf("listed %q", got)
		}
	})
}
