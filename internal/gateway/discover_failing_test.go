package gateway_test

import (
	"context"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"strings"
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
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

// A provider that hangs keeps only those waiting who may use it.
func TestAListWaitsOnlyForProvidersThatTheKeyMayUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := gateway.Config{}
		var sources []catalog.Source
		for name, answer := range map[string]roundTrip{"good": listing("m"), "bad": silent, "nope": answering(405, "")} {
			p := newProvider(t, name, true, answer)
			config.Providers = append(config.Providers, p)
			config.Discover = append(config.Discover, models.Discovery{Provider: p, Every: time.Hour})
			sources = append(sources, catalog.Source{Provider: name, Discover: true})
		}
		patterns := map[string][]string{
			"good": {"good/*"}, "unlisted": {"good/other"}, "bad": {"bad/m"}, "nope": {"nope/*"}, "suffix": {"*/other"}, "every": nil,
		}
		var specs []keys.Spec
		for name, models := range patterns {
			specs = append(specs, keys.Spec{Name: name, Secrets: []string{secret + name}, Scopes: []string{"models:read"}, Models: models})
		}
		config.Keyring = newRing(t, specs...)
		ctx, stop := context.WithCancel(t.Context())
		r := newRig(t, config, sources...)
		if err := r.Start(ctx, activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]struct {
			models int
			code   apierror.Code
			after  time.Duration
		}{
			"good":     {1, "", 0},
			"unlisted": {0, "", 0},
			"bad":      {0, apierror.NoProvider, 2 * time.Second},
			"nope":     {0, "", 0},
			"suffix":   {0, apierror.NoProvider, 2 * time.Second},
			"every":    {1, "", 2 * time.Second},
		} {
			credential, err := r.Authenticate(secret+name, "")
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			models, err := r.Models().List(t.Context(), credential.Key)
			if err != nil {
				wantRefusal(t, err, want.code, "not listed yet are those of bad;")
			} else if want.code != "" {
				t.Errorf("key %s: no refusal", name)
			}
			if after := time.Since(began); len(models) != want.models || after != want.after {
				t.Errorf("key %s: %d models after %v, want %d after %v", name, len(models), after, want.models, want.after)
			}
		}
		stop()
		r.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestAProviderWithoutAListIsNamedToCallersAndOperators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		core, lines := observer.New(zapcore.WarnLevel)
		l := &lister{answer: answering(404, "no")}
		p := newProvider(t, "acme", true, l)
		r := newRig(t, gateway.Config{
			Logger: zap.New(core), Providers: []*provider.Provider{p}, Discover: []models.Discovery{{Provider: p, Every: 10 * time.Minute}},
		}, catalog.Source{Provider: "acme", Discover: true})
		ctx, stop := context.WithCancel(t.Context())
		if err := r.Start(ctx, activity.Retention{}); err != nil {
			t.Fatal(err)
		}
		wantLines := func(total int, text string) {
			t.Helper()
			time.Sleep(5 * time.Minute) // the bubble's clock
			synctest.Wait()
			if all := lines.All(); len(all) != total || !strings.Contains(all[total-1].Message, text) {
				t.Errorf("%d lines, want %d with %q: %v", len(all), total, text, all)
			}
		}
		wantLines(1, "set discover off")
		_, _, err := r.find(t, t.Context(), "acme/m")
		wantRefusal(t, err, apierror.ModelNotCallable, "set discover off")
		if !apierror.From(err).Final() {
			t.Error("an SDK may repeat the call")
		}
		l.set(answering(503, "no"))
		wantLines(2, "until it succeeds")
		if code, _ := r.refused(t, t.Context(), "acme/m"); code != apierror.NoProvider {
			t.Errorf("a provider that is down: %q", code)
		}
		l.set(listing("m"))
		wantLines(2, "until it succeeds")
		if code, _ := r.refused(t, t.Context(), "acme/m"); code != "" {
			t.Errorf("a provider that has a list after all: %q", code)
		}
		l.set(answering(404, "no"))
		wantLines(2, "until it succeeds")
		wantLines(3, "the last list stays")
		stop()
		r.Close()
		if err := r.state.Close(); err != nil {
			t.Error(err)
		}
	})
}
