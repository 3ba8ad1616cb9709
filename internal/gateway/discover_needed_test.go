package gateway_test

import (
	"context"
	"errors"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// neverListed runs a test against a gateway whose provider has long refused its list, so that the next
// try by itself is half a minute away.
func neverListed(t *testing.T, test func(t *testing.T, l *lister, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		l := &lister{answer: answering(503, "starting")}
		r := discovering(t, l, nil).start(t, ctx)
		time.Sleep(62 * time.Second) // the bubble's clock
		synctest.Wait()
		test(t, l, r)
	})
}

func TestCallsReadAListThatHasNeverComeTogetherAndAtOnce(t *testing.T) {
	neverListed(t, func(t *testing.T, l *lister, r *rig) {
		asked := l.count()
		l.set(delayed(100*time.Millisecond, listing("m")))
		var calls sync.WaitGroup
		for range 20 {
			calls.Go(func() {
				if code, after := r.refused(t, t.Context(), "acme/m"); code != "" || after != 100*time.Millisecond {
					t.Errorf("%q after %v", code, after)
				}
			})
		}
		calls.Wait()
		if n := l.count() - asked; n != 1 {
			t.Errorf("the list was read %d times", n)
		}
	})
}

func TestAListThatDoesNotComeIsReadOnceASecondAtMost(t *testing.T) {
	for name, c := range map[string]struct {
		answer roundTrip
		reads  int // within ten seconds of calls
		each   time.Duration
	}{
		"refused":     {answering(503, "starting"), 11, time.Second},
		"no answer":   {silent, 1, 2 * time.Second},
		"late answer": {delayed(1500*time.Millisecond, answering(503, "starting")), 5, 2 * time.Second},
	} {
		neverListed(t, func(t *testing.T, l *lister, r *rig) {
			l.set(c.answer)
			asked, began := l.count(), time.Now()
			for time.Since(began) < 10*time.Second {
				if code, after := r.refused(t, t.Context(), "acme/m"); code != apierror.NoProvider || after > c.each {
					t.Errorf("%s: %q after %v", name, code, after)
				}
			}
			if n := l.count() - asked; n != c.reads {
				t.Errorf("%s: read %d times, want %d", name, n, c.reads)
			}
		})
	}
}

func TestAClientThatLeavesEndsItsWaitAndNotTheRead(t *testing.T) {
	neverListed(t, func(t *testing.T, l *lister, r *rig) {
		l.set(delayed(time.Second, listing("m")))
		gone, leave := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer leave()
		if code, after := r.refused(t, gone, "acme/m"); code != apierror.ClientGone || after != 100*time.Millisecond {
			t.Errorf("%q after %v", code, after)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if got := r.names(t); got != "m" {
			t.Errorf("listed %q", got)
		}
	})
}

func TestACallOfAConfigurationThatHasEndedWaitsForNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r := discovering(t, &lister{answer: silent}, nil).start(t, ctx)
		stop()
		synctest.Wait()
		if code, after := r.refused(t, t.Context(), "acme/m"); code != apierror.NoProvider || after != 0 {
			t.Errorf("%q after %v", code, after)
		}
	})
}

func TestModelsAreShownWithoutAProviderThatDoesNotListThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		l := &lister{answer: delayed(time.Second, answering(503, "starting"))}
		p := newProvider(t, "acme", true, l)
		r := newRig(t, gateway.Config{Providers: []*provider.Provider{p}, Discover: []models.Discovery{{Provider: p, Every: time.Hour}}},
			catalog.Source{Provider: "acme", Discover: true, Patterns: []string{"exact", "m*"}}).start(t, ctx)
		for _, after := range []time.Duration{time.Second, 0} {
			began := time.Now()
			if got := r.names(t); got != "exact" || time.Since(began) != after {
				t.Errorf("listed %q after %v, want %v", got, time.Since(began), after)
			}
		}
	})
}

func TestAListThatHasNeverComeIsShownToOperators(t *testing.T) {
	neverListed(t, func(t *testing.T, l *lister, r *rig) {
		shown := func() string {
			time.Sleep(time.Second) // conditions are kept so long
			for _, p := range gateway.ReadCondition(r.Gateway).Parts {
				if p.Name == "providers" {
					return p.State + " " + p.Detail + " " + strconv.FormatBool(r.Models().Status(nil)[0].ListMissing)
				}
			}
			return ""
		}
		if got := shown(); got != "degraded no list of models has come, see the log: acme true" {
			t.Errorf("without its list: %q", got)
		}
		const want = `provider acme has sent no list of models yet: write "models NAME" or "discover off" in its block`
		if _, _, err := r.find(t, t.Context(), "acme/m"); apierror.From(err).RefusedBy != want {
			t.Errorf("refused by %q", apierror.From(err).RefusedBy)
		}
		l.set(listing("m"))
		if code, _ := r.refused(t, t.Context(), "acme/m"); code != "" {
			t.Errorf("refused: %q", code)
		}
		if got := shown(); got != "ok  false" {
			t.Errorf("with it: %q", got)
		}
	})
}

func TestAModelThatItsProviderDoesNotListIsNamedToOperators(t *testing.T) {
	const advice = `provider acme does not list it: write "models NAME" or "discover off" in its block`
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		core, lines := observer.New(zapcore.WarnLevel)
		p := newProvider(t, "acme", true, listing("m"))
		r := newRig(t, gateway.Config{
			Logger: zap.New(core), Providers: []*provider.Provider{p}, Discover: []models.Discovery{{Provider: p, Every: time.Hour}},
			Catalog: newCatalog(t, []catalog.Model{{Provider: "acme", Name: "m-known"}}, catalog.Source{Provider: "acme", Discover: true, Patterns: []string{"m*"}}),
			Secrets: []string{"hunter2-hunter2"},
		}).start(t, ctx)
		synctest.Wait()
		for name, by := range map[string]string{"acme/mm": advice, "acme/m-known": advice, "acme/other": "", "other/m": "", "m": ""} {
			_, _, err := r.find(t, t.Context(), name)
			wantRefusal(t, err, apierror.ModelNotFound, `the model "`+name+`" does not exist or this key may not use it`)
			if got := apierror.From(err).RefusedBy; got != by || errors.Is(err, catalog.ErrNotListed) != (by != "") {
				t.Errorf("%s is refused by %q, because of %v", name, got, err)
			}
		}
		for range 3 {
			r.Models().NotListed("acme/hunter2-hunter2")
		}
		time.Sleep(time.Hour)
		r.Models().NotListed("acme/hunter2-hunter2")
		all := lines.All()
		if len(all) != 2 || all[1].ContextMap()["provider"] != "acme" || !strings.Contains(all[1].Message, "does not list") || strings.Contains(all[1].ContextMap()["model"].(string), "hunter2") {
			t.Errorf("logged %v", all)
		}
		for i := range 5000 {
			r.Models().NotListed("acme/m" + strconv.Itoa(i))
		}
		if n := lines.Len(); n != 1001 {
			t.Errorf("%d lines of names that a caller made up", n)
		}
	})
}
