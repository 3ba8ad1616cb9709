package gateway_test

import (
	"context"
	"github.com/gatehouse-proxy/gatehouse/internal/models"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/catalog"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/provider"
)

func group(targets ...string) (g []models.AliasTarget) {
	for _, model := range targets {
		g = append(g, models.AliasTarget{Model: model})
	}
	return g
}

// aliased is a configuration with the providers acme and other, one that is left out and aliases.
func aliased(t *testing.T, models []string, list ...models.Alias) gateway.Config {
	return gateway.Config{
		Keyring: newRing(t, keys.Spec{Name: "dev", Secrets: []string{secret}, Scopes: []string{"chat:write"}, Models: models}),
		Catalog: newCatalog(t, []catalog.Model{
			{Provider: "acme", Name: "big", ContextLength: 200, Price: usd(2)}, {Provider: "acme", Name: "small", ContextLength: 100, Price: usd(1)},
			{Provider: "acme", Name: "old"}, {Provider: "elsewhere", Name: "m"},
		}, catalog.Source{Provider: "acme", Patterns: []string{"big", "small"}}, catalog.Source{Provider: "other", Patterns: []string{"m"}},
			catalog.Source{Provider: "gone", Patterns: []string{"m"}, Skipped: true}),
		Providers: []*provider.Provider{newProvider(t, "acme", true, answering(200, "{}")), newProvider(t, "other", true, answering(200, "{}"))},
		Aliases:   list,
	}
}

func usd(rate catalog.Rate) *catalog.Price {
	return &catalog.Price{Rates: catalog.Rates{Prompt: catalog.Quoted(rate), Completion: catalog.Quoted(rate)}}
}

// found shows where calls of a name can be sent.
func found(r *rig, name string) (string, error) {
	caller, err := r.Authenticate(secret, "")
	if err != nil {
		return "", err
	}
	found, err := r.Models().Find(caller.Key, name)
	return shown(found), err
}

func shown(found modelcall.Found) string {
	var groups []string
	for _, g := range found.Groups {
		var names []string
		for _, c := range g {
			names = append(names, strings.Repeat("+", c.Weight)+c.Model.ID+"@"+c.Provider.Name)
		}
		groups = append(groups, strings.Join(names, " "))
	}
	if found.Alias {
		groups = append(groups, "alias")
	}
	for _, s := range found.Skipped {
		groups = append(groups, "without "+s.Target+" "+s.Code+" ("+s.RefusedBy+")")
	}
	return strings.Join(groups, "; ")
}

func TestAnAliasIsFoundForAKeyThatHasIt(t *testing.T) {
	r := newRig(t, aliased(t, []string{"team/*", "fast"},
		models.Alias{Name: "team/fast", Groups: [][]models.AliasTarget{{{Model: "acme/big", Weight: 3}, {Model: "acme/small"}}, group("other/m")}},
		models.Alias{Name: "fast", Groups: [][]models.AliasTarget{group("gone/m", "acme/old"), group("other/none", "other/m")}},
		models.Alias{Name: "mine", Groups: [][]models.AliasTarget{group("acme/big")}},
		models.Alias{Name: "team/none", Groups: [][]models.AliasTarget{group("gone/m"), group("other/none")}},
	)).start(t, t.Context())
	for name, want := range map[string]string{
		"team/fast": "+++acme/big@acme acme/small@acme; other/m@other; alias",
		"fast": "other/m@other; alias; without gone/m provider_left_out (provider gone: optional); " +
			"without acme/old model_not_callable (provider acme: models); without other/none model_not_found (provider other: models)",
	} {
		if got, err := found(r, name); got != want || err != nil {
			t.Errorf("%s: %q, %v, want %q", name, got, err, want)
		}
	}
	for name, text := range map[string]string{"acme/big": "may not use it", "mine": "may not use it", "team/other": "does not exist", "none": "this key can call team/none"} {
		_, err := found(r, name)
		wantRefusal(t, err, apierror.ModelNotFound, text)
	}
	_, err := found(r, "team/none")
	wantRefusal(t, err, apierror.ModelNotCallable, `none of the models that the alias "team/none" stands for can be called`)
}

func TestAnAliasIsListedAsWhatItsTargetsHaveInCommon(t *testing.T) {
	r := newRig(t, aliased(t, []string{"team/*", "acme/small", "zebra"},
		models.Alias{Name: "team/fast", Groups: [][]models.AliasTarget{group("acme/big"), group("acme/small")}},
		models.Alias{Name: "team/none", Groups: [][]models.AliasTarget{group("gone/m")}},
		models.Alias{Name: "zebra", Groups: [][]models.AliasTarget{group("acme/small", "other/m")}},
	)).start(t, t.Context())
	caller, err := r.Authenticate(secret, "")
	if err != nil {
		t.Fatal(err)
	}
	models, err := r.Models().List(t.Context(), caller.Key)
	var names []string
	for _, m := range models {
		names = append(names, m.ID)
		if one, err := r.Models().Get(t.Context(), caller.Key, m.ID); err != nil || one.ID != m.ID || one.ContextLength != m.ContextLength {
			t.Errorf("%s alone: %+v, %v", m.ID, one, err)
		}
	}
	if want := "acme/small team/fast zebra"; strings.Join(names, " ") != want || err != nil {
		t.Fatalf("listed %q, %v, want %q", names, err, want)
	}
	if fast := models[1]; fast.ContextLength != 100 || fast.Price == nil || fast.Price.Prompt != catalog.Quoted(2) || fast.OwnedBy != "gatehouse" {
		t.Errorf("team/fast is listed as %+v", fast)
	}
	if models[2].Price != nil {
		t.Errorf("an alias with a target without a price has the price %+v", models[2].Price)
	}
	_, err = r.Models().Get(t.Context(), caller.Key, "team/none")
	wantRefusal(t, err, apierror.ModelNotCallable, "team/none")
}

func TestAliasesThatCannotBeMeantAreRefused(t *testing.T) {
	big := [][]models.AliasTarget{group("acme/big")}
	for _, c := range []struct {
		aliases []models.Alias
		want    string
	}{
		{[]models.Alias{{Name: "", Groups: big}}, `alias "": want a name`},
		{[]models.Alias{{Name: "a b", Groups: big}}, `alias "a b": want a name`},
		{[]models.Alias{{Name: "team/*", Groups: big}}, `alias "team/*": want a name`},
		{[]models.Alias{{Name: "acme/big", Groups: big}}, `alias "acme/big": names that begin with "acme/" are those of the models`},
		{[]models.Alias{{Name: "gone/new", Groups: big}}, `alias "gone/new": names that begin with "gone/"`},
		{[]models.Alias{{Name: "elsewhere/m", Groups: big}}, `alias "elsewhere/m": a catalog file has a model of this name`},
		{[]models.Alias{{Name: "fast", Groups: big}, {Name: "fast", Groups: big}}, `alias "fast" is configured twice`},
		{[]models.Alias{{Name: "fast"}}, `alias "fast": it has no target`},
		{[]models.Alias{{Name: "fast", Groups: [][]models.AliasTarget{group("acme/big"), nil}}}, `alias "fast": group 2 has no target`},
		{[]models.Alias{{Name: "fast", Groups: [][]models.AliasTarget{group("acme")}}}, `target "acme": want PROVIDER/MODEL`},
		{[]models.Alias{{Name: "fast", Groups: [][]models.AliasTarget{group("nobody/m")}}}, `target "nobody/m": no provider "nobody" is configured`},
		{[]models.Alias{{Name: "fast", Groups: [][]models.AliasTarget{group("acme/big"), group("acme/big")}}}, `target "acme/big" is given twice`},
		{[]models.Alias{{Name: "fast", Groups: [][]models.AliasTarget{group("slow")}}, {Name: "slow", Groups: big}}, `target "slow" is an alias`},
		{[]models.Alias{{Name: "fast", Groups: [][]models.AliasTarget{{{Model: "acme/big", Weight: -1}}}}}, `weight -1: want 1 to 1000`},
		{[]models.Alias{{Name: "fast", Groups: [][]models.AliasTarget{{{Model: "acme/big", Weight: 1001}}}}}, `weight 1001: want 1 to 1000`},
	} {
		config := aliased(t, nil, c.aliases...)
		config.State, config.BodyMemory, config.Logger, config.Now = gateway.NewState(t.TempDir(), time.Now), 1<<30, nopLogger, time.Now
		config.Limits, config.Guardrails = new(policy.Limits), new(policy.Guardrails)
		if _, err := gateway.New(config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: error %v, want %q", c.aliases, err, c.want)
		}
	}
}

func TestTargetsThatCannotBeCalledAreLogged(t *testing.T) {
	core, logs := observer.New(zap.InfoLevel)
	config := aliased(t, nil, models.Alias{Name: "fast", Groups: [][]models.AliasTarget{group("gone/m", "other/none", "acme/big")}})
	config.Logger = zap.New(core)
	newRig(t, config)
	for text, target := range map[string]string{"is left out": "gone/m", "cannot be called": "other/none"} {
		lines := logs.FilterField(zap.String("target", target)).FilterField(zap.String("alias", "fast")).All()
		if len(lines) != 1 || !strings.Contains(lines[0].Message, text) {
			t.Errorf("%s: %v", target, lines)
		}
	}
	if lines := logs.FilterField(zap.String("target", "acme/big")).All(); len(lines) > 0 {
		t.Errorf("logged %v", lines)
	}
}

// The operator has named the targets: no list decides about them. The patterns of their providers do.
func TestTargetsOfAnAliasNeedNoList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		slow := newProvider(t, "slow", true, delayed(time.Second, answering(200, `{"data":[{"id":"m"},{"id":"other"}]}`)))
		r := newRig(t, gateway.Config{
			Keyring:   newRing(t, keys.Spec{Name: "dev", Secrets: []string{secret}, Scopes: []string{"chat:write"}, Models: []string{"both", "none"}}),
			Catalog:   newCatalog(t, nil, catalog.Source{Provider: "slow", Discover: true, Patterns: []string{"m*"}}, catalog.Source{Provider: "acme", Patterns: []string{"m"}}),
			Providers: []*provider.Provider{slow, newProvider(t, "acme", true, answering(200, "{}"))},
			Discover:  []models.Discovery{{Provider: slow, Every: time.Hour}},
			Aliases: []models.Alias{
				{Name: "none", Groups: [][]models.AliasTarget{group("slow/other")}},
				{Name: "both", Groups: [][]models.AliasTarget{group("slow/m", "slow/missing"), group("acme/m")}},
			},
		}).start(t, ctx)
		caller, err := r.Authenticate(secret, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"before the list", "after it"} {
			if got, err := found(r, "both"); got != "slow/m@slow slow/missing@slow; acme/m@acme; alias" || err != nil {
				t.Errorf("%s: %q, %v", when, got, err)
			}
			_, err = found(r, "none")
			wantRefusal(t, err, apierror.ModelNotCallable, `"none"`)
			began := time.Now()
			models, err := r.Models().List(ctx, caller.Key)
			if err != nil || len(models) != 1 || models[0].ID != "both" || time.Since(began) > 0 {
				t.Errorf("%s: listed %+v after %v, %v", when, models, time.Since(began), err)
			}
			time.Sleep(2 * time.Second) // the bubble's clock
		}
	})
}
