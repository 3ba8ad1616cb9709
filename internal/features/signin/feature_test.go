package signin

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/features/identity"
	"github.com/gatehouse-proxy/gatehouse/internal/gateway"
	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall"
	"github.com/gatehouse-proxy/gatehouse/internal/policy"
	"github.com/gatehouse-proxy/gatehouse/internal/report"
	"github.com/gatehouse-proxy/gatehouse/internal/signin"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/identitytest"
)

// console is one where people sign in, with a clock of the test.
type console struct {
	t      *testing.T
	issuer *identitytest.Issuer
	url    string
	slots  gateway.Slots
	now    time.Time
	*Console
	people *identity.People
}

func newConsole(t *testing.T) *console {
	t.Helper()
	c := &console{t: t, issuer: identitytest.Start(t), now: time.Now()}
	c.issuer.SignIn("ann", map[string]any{"groups": "operators", "email": "ann@example.com", "email_verified": true})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !c.SignInEnds(r, "") {
			if err := c.BeginSignIn(w, r, "", "idp", r.URL.Path); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
			}
			return
		}
		caller, kept, page, err := c.FinishSignIn(w, r, "")
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		w.Header().Set("Kept", kept)
		w.Header().Set("Page", page)
		w.Header().Set("Name", caller.Name)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	c.configure("operators")
	return c
}

// configure makes the feature of a configuration in which a group has the role.
func (c *console) configure(group string, secrets ...string) {
	c.t.Helper()
	now := func() time.Time { return c.now }
	deps := new(modelcall.Deps)
	deps.Limits, deps.Now, deps.Logger, deps.Sampled = &policy.Limits{}, now, zap.NewNop(), zap.NewNop
	if err := deps.Limits.Prepare(); err != nil {
		c.t.Fatal(err)
	}
	issuer := identity.Issuer{Name: "idp", URL: c.issuer.URL, Client: identitytest.ClientID}
	issuer.Rules = []identity.Rule{{Role: "operator", Conditions: []identity.Condition{{Claim: "groups", Values: []string{group}}}}}
	role := identity.Role{Name: "operator", Key: keys.Key{Tenant: "lab", Scopes: keys.ActivityRead}}
	identities, err := identity.NewConfig([]identity.Issuer{issuer}, []identity.Role{role}, http.DefaultClient, now)
	if err != nil {
		c.t.Fatal(err)
	}
	config, err := NewConfig(Settings{
		Origin: c.url, Secrets: secrets, HTTP: http.DefaultClient, Now: now,
		Clients: []Client{{Identity: "idp", ID: identitytest.ClientID, Secret: identitytest.ClientSecret}},
	}, identities)
	if err != nil {
		c.t.Fatal(err)
	}
	core := gateway.Core{Requests: deps, Slots: &c.slots}
	people := identity.Feature(core, identities)
	people.Start(c.t.Context())
	people.Apply()
	c.people = people.Offers.(*identity.People)
	c.Console = ConsoleFeature(Feature(core, people, config)).Offers.(*Console)
}

// signIn returns what is kept of a sign-in.
func (c *console) signIn() (kept string) {
	c.t.Helper()
	jar, _ := cookiejar.New(nil) // never fails
	answer, err := (&http.Client{Jar: jar}).Get(c.url + "/console/usage")
	if err != nil {
		c.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if kept = answer.Header.Get("Kept"); kept == "" || answer.Header.Get("Page") != "/console/usage" || !strings.HasPrefix(answer.Header.Get("Name"), "idp-") {
		c.t.Fatalf("%d %v", answer.StatusCode, answer.Header)
	}
	return kept
}

// want checks what a session is now, and returns what is kept of it.
func (c *console) want(what, kept string, code apierror.Code, asks int) string {
	c.t.Helper()
	before := c.issuer.Asked()
	caller, renewed, err := c.SignedIn(c.t.Context(), kept)
	var refusal *apierror.Error
	if errors.As(err, &refusal); err != nil && refusal == nil || err == nil && code != "" || err != nil && refusal.Code != code {
		c.t.Errorf("%s: %v", what, err)
	}
	if err == nil && (caller.User != "ann@example.com" || caller.Tenant != "lab" || !caller.Has(keys.ActivityRead) || caller.Configured() != "operator") {
		c.t.Errorf("%s: %+v", what, caller)
	}
	if n := c.issuer.Asked() - before; n != asks {
		c.t.Errorf("%s: asked %d times", what, n)
	}
	if renewed != "" {
		return renewed
	}
	return kept
}

func TestASignInGoesOnWhileTheProviderAgrees(t *testing.T) {
	c := newConsole(t)
	kept := c.signIn()
	if strings.Contains(kept, "refresh-") {
		t.Errorf("the token of the provider can be read: %s", kept)
	}
	kept = c.want("at first", kept, "", 0)
	for range 3 {
		c.now = c.now.Add(49 * time.Minute)
		kept = c.want("before it is time", kept, "", 0)
		// The tokens of the provider of the test have the time of the machine.
		c.issuer.Behave(identitytest.Quirks{Claims: map[string]any{"iat": c.now.Unix(), "exp": c.now.Add(3 * time.Minute).Unix()}})
		c.now = c.now.Add(2 * time.Minute)
		kept = c.want("when it is time", kept, "", 1)
	}
	caller, err := c.signIns.Caller(grantIn(t, kept).Person)
	if err != nil || !c.people.MayStill(caller.Hash, "lab", keys.ActivityRead) {
		t.Errorf("what the person has opened: %v", err)
	}
	c.issuer.End("ann")
	c.now = c.now.Add(51 * time.Minute)
	c.want("ended", kept, apierror.InvalidAPIKey, 1)
	if c.people.MayStill(caller.Hash, "lab", keys.ActivityRead) {
		t.Error("what the person has opened goes on")
	}
}

func TestARoleThatIsTakenAwayEndsASignIn(t *testing.T) {
	c := newConsole(t)
	kept := c.signIn()
	c.issuer.SignIn("ann", map[string]any{"groups": "others"})
	c.issuer.Behave(identitytest.Quirks{Claims: map[string]any{"iat": c.now.Add(50 * time.Minute).Unix(), "exp": c.now.Add(time.Hour).Unix()}})
	c.now = c.now.Add(50 * time.Minute)
	c.want("without the group", kept, apierror.NoRole, 1)
	c = newConsole(t)
	kept = c.signIn()
	c.configure("others")
	c.want("another rule", kept, apierror.InvalidAPIKey, 0)
	c.configure("operators")
	c.want("the rule of then", kept, "", 0)
}

// While the provider is away a sign-in goes on to its end, and nobody is signed out by it.
func TestAProviderThatIsAwayEndsNoSession(t *testing.T) {
	c := newConsole(t)
	kept := c.signIn()
	broken := identitytest.Quirks{Token: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }}
	c.issuer.Behave(broken)
	c.now = c.now.Add(51 * time.Minute)
	kept = c.want("away", kept, "", 1)
	if s := c.signIns.status(); len(s) != 1 || s[0].Name != "sign-in idp" || s[0].State != report.PartDegraded {
		t.Errorf("status %+v", s)
	}
	kept = c.want("away, soon after", kept, "", 0)
	c.now = c.now.Add(30 * time.Second)
	kept = c.want("away, later", kept, "", 1)
	c.now = c.now.Add(10 * time.Minute)
	kept = c.want("away at the end", kept, apierror.IdentityUnavailable, 1)
	kept = c.want("away, soon after the end", kept, apierror.IdentityUnavailable, 0)
	c.issuer.Behave(identitytest.Quirks{Claims: map[string]any{"iat": c.now.Unix(), "exp": c.now.Add(time.Hour).Unix()}})
	c.now = c.now.Add(askAgain)
	c.want("back", kept, "", 1)
	if s := c.signIns.status(); len(s) != 0 {
		t.Errorf("status %+v", s)
	}
}

// A request may still be at the configuration before: a provider takes a token once.
func TestTwoConfigurationsAskOnceWithOneToken(t *testing.T) {
	c := newConsole(t)
	kept := c.signIn()
	c.now = c.now.Add(51 * time.Minute)
	c.issuer.Behave(identitytest.Quirks{Claims: map[string]any{"iat": c.now.Unix(), "exp": c.now.Add(time.Hour).Unix()}})
	c.want("the configuration before", kept, "", 1)
	c.configure("operators")
	c.want("the next", kept, "", 0)
}

func TestASignInWithoutATokenToAskWithEndsByItself(t *testing.T) {
	c := newConsole(t)
	c.issuer.Behave(identitytest.Quirks{NoRefresh: true})
	kept := c.signIn()
	c.now = c.now.Add(59 * time.Minute)
	c.want("within the hour", kept, "", 0)
	c.now = c.now.Add(time.Minute)
	c.want("after it", kept, apierror.InvalidAPIKey, 0)
	c.want("what nobody has kept", "{", apierror.InvalidAPIKey, 0)
}

// After a restart the secret of the configuration opens what was kept, and that of a process does
// not.
func TestWhatOutlivesARestart(t *testing.T) {
	const secret, newer = "a secret that has more than thirty-two bytes", "another secret that has more than 32 bytes"
	for name, c := range map[string]struct {
		before, after []string
		asks          int
	}{
		"no secret": {nil, nil, 0}, "a secret": {[]string{secret}, []string{secret}, 1}, "a newer one": {[]string{secret}, []string{newer, secret}, 1},
		"another": {[]string{secret}, []string{newer}, 0},
	} {
		at := newConsole(t)
		at.configure("operators", c.before...)
		kept := at.signIn()
		at.slots = gateway.Slots{} // of another process
		at.configure("operators", c.after...)
		at.issuer.Behave(identitytest.Quirks{Claims: map[string]any{"iat": at.now.Add(51 * time.Minute).Unix(), "exp": at.now.Add(time.Hour).Unix()}})
		at.now = at.now.Add(51 * time.Minute)
		kept = at.want(name, kept, "", c.asks)
		at.now = at.now.Add(10 * time.Minute)
		code := apierror.Code("")
		if c.asks == 0 {
			code = apierror.InvalidAPIKey
		}
		at.want(name+", later", kept, code, 0)
	}
}

// Sign-ins for something else are not those of a console.
func TestSignInsOfOthersAreLeftToThem(t *testing.T) {
	c := newConsole(t)
	w := httptest.NewRecorder()
	if err := c.signIns.Begin(w, httptest.NewRequest("GET", "/", nil), "idp", signin.Next{Purpose: "device"}); err != nil {
		t.Fatal(err)
	}
	to, err := w.Result().Location()
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest("GET", signin.CallbackPath+"?state="+to.Query().Get("state"), nil)
	r.AddCookie(w.Result().Cookies()[0])
	if c.SignInEnds(r, "") {
		t.Error("the console takes it")
	}
	if r = httptest.NewRequest("GET", signin.CallbackPath+"?state=01234567890", nil); !c.SignInEnds(r, "") {
		t.Error("nobody says what is wrong")
	}
	if r = httptest.NewRequest("GET", "/v1/models", nil); c.SignInEnds(r, "") {
		t.Error("a path of others")
	}
}

func grantIn(t *testing.T, kept string) (g grant) {
	t.Helper()
	if err := json.Unmarshal([]byte(kept), &g); err != nil {
		t.Fatal(err)
	}
	return g
}
