package gateway_test

import (
	"context"
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

// started runs a gateway whose one provider lists its models, on a clock of its own.
func started(t *testing.T, l *lister, config gateway.Config, source catalog.Source, run func(t *testing.T, r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		p := newProvider(t, "acme", true, l)
		config.Providers, config.Discover = []*provider.Provider{p}, []gateway.Discovery{{Provider: p, Every: 10 * time.Minute}}
		source.Provider, source.Discover = "acme", true
		r := newRig(t, config, source)
		ctx, stop := context.WithCancel(t.Context())
		if err := r.Start(ctx, activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		run(t, r)
		stop()
		r.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A provider that starts after the gateway serves its first call, not the first after half a minute.
func TestACallThatNeedsAFirstListReadsItAtOnce(t *testing.T) {
	l := &lister{answer: answering(502, "no")}
	started(t, l, gateway.Config{}, catalog.Source{}, func(t *testing.T, r *rig) {
		time.Sleep(100 * time.Second) // the bubble's clock; the next attempt of its own is 21 s away
		before := l.count()
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() {
				if code, after := r.refused(t, t.Context(), "acme/m"); code != apierror.NoProvider || after != 0 {
					t.Errorf("while the provider is down: %q after %v", code, after)
				}
			})
		}
		calls.Wait()
		if asked := l.count() - before; asked != 1 {
			t.Errorf("50 calls asked %d times", asked)
		}
		if code, after := r.refused(t, t.Context(), "acme/m"); code != apierror.NoProvider || after > time.Second || l.count() > before+2 {
			t.Errorf("the next call: %q after %v, %d questions", code, after, l.count()-before)
		}
		time.Sleep(2 * time.Second)
		l.set(listing("m"))
		if code, after := r.refused(t, t.Context(), "acme/m"); code != "" || after != 0 {
			t.Errorf("the first call after the provider's start: %q after %v", code, after)
		}
	})
}

// A missing name looks like a typing error to its caller, and the operator learns what to do.
func TestANameThatTheListLacksIsExplainedToTheOperator(t *testing.T) {
	core, lines := observer.New(zapcore.WarnLevel)
	started(t, &lister{answer: listing("m")}, gateway.Config{Logger: zap.New(core)}, catalog.Source{Patterns: []string{"m*"}}, func(t *testing.T, r *rig) {
		for i, want := range []int{1, 1, 2} {
			_, _, err := r.find(t, t.Context(), "acme/missing")
			wantRefusal(t, err, apierror.ModelNotFound, `"acme/missing" does not exist`)
			if by := apierror.From(err).RefusedBy; !strings.Contains(by, "provider acme: ") || !strings.Contains(by, "models NAME") || !strings.Contains(by, "discover off") {
				t.Errorf("refused by %q", by)
			}
			if n := lines.FilterField(zap.String("model", "acme/missing")).Len(); n != want {
				t.Errorf("call %d: %d lines", i, n)
			}
			time.Sleep(31 * time.Minute)
		}
		if _, _, err := r.find(t, t.Context(), "acme/other"); apierror.From(err).RefusedBy != "" {
			t.Errorf("a name that no pattern admits is blamed on the list: %v", err)
		}
		for i := range 3000 {
			_, _, _ = r.find(t, t.Context(), "acme/made-up-"+strings.Repeat("x", i%40)+string(rune('a'+i%26)))
		}
	})
}

func TestAListThatNeverCameIsAnOperatorsBusiness(t *testing.T) {
	l := &lister{answer: answering(502, "no")}
	started(t, l, gateway.Config{}, catalog.Source{}, func(t *testing.T, r *rig) {
		part := func() gateway.Part {
			time.Sleep(time.Minute)
			for _, p := range gateway.ReadCondition(r.Gateway).Parts {
				if p.Name == "providers" {
					return p
				}
			}
			return gateway.Part{}
		}
		if p := part(); p.State != gateway.PartDegraded || p.Detail != "no list of models has come from: acme" {
			t.Errorf("%+v", p)
		}
		l.set(listing("m"))
		if p := part(); p.State != gateway.PartOK {
			t.Errorf("%+v", p)
		}
	})
}

// The operator has named the targets: no list decides about them, and none is waited for.
func TestTheTargetsOfAnAliasNeedNoList(t *testing.T) {
	l := &lister{answer: answering(502, "no")}
	aliases := []gateway.Alias{{Name: "fast", Groups: [][]gateway.AliasTarget{group("acme/m")}}}
	started(t, l, gateway.Config{Aliases: aliases}, catalog.Source{Named: []string{"m"}}, func(t *testing.T, r *rig) {
		if got, err := found(r, "fast"); got != "acme/m@acme; alias" || err != nil {
			t.Errorf("before the list: %q, %v", got, err)
		}
		l.set(listing("other"))
		time.Sleep(time.Minute) // the bubble's clock
		if got, err := found(r, "fast"); got != "acme/m@acme; alias" || err != nil {
			t.Errorf("a list that lacks it: %q, %v", got, err)
		}
	})
}
