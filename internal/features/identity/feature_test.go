package identity

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/limits"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
)

// people are those of an issuer, by a role "developer" of tenant "lab" with a rate.
func people(t testing.TB, issuer *identitytest.Issuer, slots *gateway.Slots, now func() time.Time, roles ...string) *People {
	t.Helper()
	var given []Role
	source := identity.Issuer{Name: "idp", URL: issuer.URL, Audiences: []string{"gatehouse"}}
	rate, err := limits.ParseRate("3/min")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range roles {
		given = append(given, Role{
			Name: name, Key: keys.Key{Tenant: "lab", Scopes: keys.ChatWrite | keys.WorkstationsConnect},
			Limits: limits.Subject{Rates: []limits.Rate{rate}},
		})
		source.Rules = append(source.Rules, identity.Rule{Role: name, Conditions: []identity.Condition{{Claim: "groups", Values: []string{name}}}})
	}
	config, err := NewConfig([]Issuer{source}, given, http.DefaultClient, now)
	if err != nil {
		t.Fatal(err)
	}
	deps := new(modelcall.Deps)
	deps.Limits, deps.Now, deps.Logger, deps.Sampled = &policy.Limits{}, now, zap.NewNop(), zap.NewNop
	if err := deps.Limits.Prepare(); err != nil {
		t.Fatal(err)
	}
	f := Feature(gateway.Core{Requests: deps, Slots: slots}, config)
	f.Start(t.Context())
	f.Apply()
	return f.Offers.(*People)
}

func TestAPersonHasTheRightsAndOwnLimitsOfTheRole(t *testing.T) {
	issuer := identitytest.Start(t)
	p := people(t, issuer, new(gateway.Slots), time.Now, "developer")
	developer := map[string]any{"groups": []string{"developer"}, "email": "ann@example.com", "email_verified": true}
	ann, own, err := p.Authenticate(issuer.Token("ann", "gatehouse", developer), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if ann.Tenant != "lab" || !ann.Has(keys.ChatWrite) || ann.Has(keys.KeysManage) || *own.Holder != (policy.Holder{Role: "developer", Name: "ann@example.com"}) || ann.Expires.IsZero() {
		t.Errorf("%+v", ann)
	}
	if own.Subjects[0].Name != policy.KeySubject(ann.Name) || own.Tenant != "lab" {
		t.Errorf("%+v", own.Subjects)
	}
	bob, _, err := p.Authenticate(issuer.Token("bob", "gatehouse", developer), time.Time{})
	if err != nil || bob.Name == ann.Name || bob.Hash == ann.Hash {
		t.Errorf("%+v, %v", bob, err)
	}
	if p.LimitsOf("lab", ann.Name) != own || p.LimitsOf("other", ann.Name) != nil || p.LimitsOf("lab", "nobody") != nil {
		t.Error("the limits of somebody")
	}
	var names []string
	for _, s := range p.limited(keys.EveryTenant("lab")) {
		names = append(names, s.Name)
	}
	if want := []string{policy.KeySubject(ann.Name), policy.KeySubject(bob.Name)}; len(names) != 2 || !slices.Contains(names, want[0]) || !slices.Contains(names, want[1]) {
		t.Errorf("limited: %v", names)
	}
	if !p.IsSubject(policy.KeySubject(ann.Name)) || p.IsSubject(ann.Name) || p.IsSubject("key:idp-1") || p.IsSubject("key:other-"+ann.Name[4:]) {
		t.Error("which subjects are those of people")
	}
}

func TestRefusalsOfPeople(t *testing.T) {
	issuer, stranger := identitytest.Start(t), identitytest.Start(t)
	p := people(t, issuer, new(gateway.Slots), time.Now, "developer")
	refused := func(token string) apierror.Code {
		t.Helper()
		_, _, err := p.Authenticate(token, time.Time{})
		var e *apierror.Error
		if errors.As(err, &e) {
			return e.Code
		}
		if !errors.Is(err, keys.ErrInvalid) {
			t.Errorf("%v", err)
		}
		return ""
	}
	developer := map[string]any{"groups": "developer"}
	issuer.Away(true)
	if code := refused(issuer.Token("ann", "gatehouse", developer)); code != apierror.IdentityUnavailable {
		t.Errorf("away: %q", code)
	}
	if s := p.status(); len(s) != 1 || s[0].Name != "identity idp" || s[0].State != report.PartDegraded {
		t.Errorf("status %+v", s)
	}
	for name, c := range map[string]struct {
		token string
		code  apierror.Code
	}{
		"a key":            {"gh-0123456789", ""},
		"a stranger":       {stranger.Token("ann", "gatehouse", developer), ""},
		"another audience": {issuer.Token("ann", "others", developer), apierror.IdentityUnavailable}, // nobody knows yet who has signed it
	} {
		if code := refused(c.token); code != c.code {
			t.Errorf("%s: %q", name, code)
		}
	}
	issuer.Away(false)
	p = people(t, issuer, new(gateway.Slots), time.Now, "developer")
	if code := refused(issuer.Token("ann", "gatehouse", nil)); code != apierror.NoRole {
		t.Errorf("no role: %q", code)
	}
	if len(p.status()) != 0 {
		t.Errorf("status %+v", p.status())
	}
	if !p.IsSecret(issuer.Token("eve", "others", nil)) || p.IsSecret(stranger.Token("ann", "gatehouse", nil)) || p.IsSecret("gh-0123456789") {
		t.Error("which texts are tokens of the issuer")
	}
}

func TestNobodyIsLetInBeforeItIsKnownWhoIsKeptOut(t *testing.T) {
	issuer := identitytest.Start(t)
	p := people(t, issuer, new(gateway.Slots), time.Now, "developer")
	var out bool
	away := errors.New("the store is away")
	p.KeptOut = func(string) (bool, error) { return out, away }
	token := issuer.Token("ann", "gatehouse", map[string]any{"groups": "developer"})
	var e *apierror.Error
	if _, _, err := p.Authenticate(token, time.Time{}); !errors.As(err, &e) || e.Code != apierror.StorageUnavailable {
		t.Errorf("not known: %v", err)
	}
	away = nil
	if _, _, err := p.Authenticate(token, time.Time{}); err != nil {
		t.Error(err)
	}
	out = true
	if _, _, err := p.Authenticate(token, time.Time{}); !errors.Is(err, keys.ErrInvalid) {
		t.Errorf("kept out: %v", err)
	}
}

// A desktop goes on over reloads, until the token ends, or a reload takes the role or its scope
// away.
func TestWhatAPersonHasOpenedEndsWithTheTokenOrTheRole(t *testing.T) {
	issuer, slots, now := identitytest.Start(t), new(gateway.Slots), time.Now()
	clock := func() time.Time { return now }
	p := people(t, issuer, slots, clock, "developer")
	token := issuer.Token("ann", "gatehouse", map[string]any{"groups": "developer"})
	ann, _, err := p.Authenticate(token, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	may := func(p *People) bool { return p.MayStill(ann.Hash, "lab", keys.WorkstationsConnect) }
	if !may(p) || p.MayStill(ann.Hash, "other", keys.WorkstationsConnect) || p.MayStill(ann.Hash, "lab", keys.KeysManage) || p.MayStill("", "lab", keys.ChatWrite) {
		t.Error("what a token lets go on")
	}
	later := now.Add(time.Hour + time.Second) // within the leeway of clocks
	if held, _, err := p.Held(sha256.Sum256([]byte(token)), later); err != nil || !held.Valid(later) {
		t.Errorf("a token that is good for calls is not held: %v", err)
	}
	issuer.Away(true)
	reloaded := people(t, issuer, slots, clock, "developer")
	if !may(reloaded) {
		t.Error("a reload ends it")
	}
	if _, _, err := reloaded.Authenticate(token, time.Time{}); err != nil {
		t.Errorf("a reload has forgotten the keys of the issuer: %v", err)
	}
	if _, _, err := reloaded.Held(sha256.Sum256([]byte(token)), now); err != nil {
		t.Errorf("a reload signs out: %v", err)
	}
	if may(people(t, issuer, slots, clock, "developer", "other")) {
		t.Error("rules that are not those of then let it go on")
	}
	if may(people(t, issuer, slots, clock, "operator")) {
		t.Error("a role that is gone lets it go on")
	}
	if now = now.Add(time.Hour + time.Minute + time.Second); may(reloaded) {
		t.Error("it goes on after the token")
	}
}

// Who is known does not grow without end.
func TestThoseWhoseTokensHaveEndedAreForgottenFirst(t *testing.T) {
	k, now := &kept{known: map[string]identity.Person{}}, time.Now()
	for i := range maxKnown {
		k.known[strconv.Itoa(i)] = identity.Person{Ends: now.Add(time.Duration(i%2) * time.Hour)}
	}
	k.note(identity.Person{ID: "new", Hash: identity.HashOf("new"), Ends: now.Add(time.Hour)}, now)
	if n := len(k.known); n != maxKnown/2+1 || k.known[identity.HashOf("new")].ID != "new" {
		t.Errorf("%d are known", n)
	}
	for i := range maxKnown {
		k.known[strconv.Itoa(i)] = identity.Person{Ends: now.Add(time.Hour)}
	}
	k.note(identity.Person{ID: "new", Hash: identity.HashOf("new"), Ends: now}, now)
	if !k.known[identity.HashOf("new")].Ends.After(now) {
		t.Error("a shorter token of somebody shortens what the longer one has opened")
	}
	k.note(identity.Person{ID: "newer", Hash: identity.HashOf("newer"), Ends: now.Add(time.Hour)}, now)
	if n := len(k.known); n != maxKnown || k.known[identity.HashOf("newer")].ID != "newer" {
		t.Errorf("%d are known", n)
	}
}

// A token that was good before costs a look-up.
func BenchmarkAuthenticate(b *testing.B) {
	issuer := identitytest.Start(b)
	p := people(b, issuer, new(gateway.Slots), time.Now, "developer")
	token := issuer.Token("ann", "gatehouse", map[string]any{"groups": []string{"developer"}, "email": "ann@example.com"})
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := p.Authenticate(token, time.Time{}); err != nil {
			b.Fatal(err)
		}
	}
}
