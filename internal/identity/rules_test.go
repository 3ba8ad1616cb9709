package identity_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/identity"
)

func TestTheFirstRuleThatFitsGivesTheRole(t *testing.T) {
	p := newIDP(t)
	s := p.issuers(func(i *identity.Issuer) {
		i.Rules = []identity.Rule{
			{Role: "release", Conditions: []identity.Condition{{Claim: "repository", Values: []string{"acme/app"}}, {Claim: "ref", Values: []string{"refs/heads/main", "refs/tags/*"}}}},
			{Role: "builder", Conditions: []identity.Condition{{Claim: "repository", Values: []string{"acme/*"}}}},
			{Role: "staff", Conditions: []identity.Condition{{Claim: "email", Values: []string{"*@acme.com"}}}},
			{Role: "staff", Conditions: []identity.Condition{{Claim: "/email", Values: []string{"*@pointed.com"}}}},
			{Role: "cluster", Conditions: []identity.Condition{{Claim: "/kubernetes.io/serviceaccount/name", Values: []string{"agent"}}}},
			{Role: "group", Conditions: []identity.Condition{{Claim: "groups", Values: []string{"ai-users", "7"}}}},
		}
	})
	for name, c := range map[string]struct {
		claims object
		role   string
	}{
		"all conditions":             {object{"repository": "acme/app", "ref": "refs/heads/main"}, "release"},
		"a star":                     {object{"repository": "acme/app", "ref": "refs/tags/v1"}, "release"},
		"one of two conditions":      {object{"repository": "acme/app", "ref": "refs/heads/main2"}, "builder"},
		"another owner":              {object{"repository": "acme2/app"}, ""},
		"an owner within":            {object{"repository": "evil/acme/app"}, ""},
		"an address":                 {object{"email": "ann@acme.com", "email_verified": true}, "staff"},
		"an address nobody verified": {object{"email": "ann@acme.com", "email_verified": false}, ""},
		"an address by a pointer":    {object{"mail": "x", "email": "ann@pointed.com"}, ""},
		"verified by a text":         {object{"email": "ann@acme.com", "email_verified": "true"}, ""},
		"an address of another":      {object{"email": "ann@evil-acme.com", "email_verified": true}, ""},
		"a pointer":                  {object{"kubernetes.io": object{"serviceaccount": object{"name": "agent"}}}, "cluster"},
		"a name that is no pointer":  {object{"/kubernetes.io/serviceaccount/name": "agent"}, ""},
		"an element of a list":       {object{"groups": []any{"others", "ai-users"}}, "group"},
		"a number":                   {object{"groups": []any{7}}, "group"},
		"a list in a list":           {object{"groups": []any{[]any{"ai-users"}}}, ""},
		"an object":                  {object{"groups": object{"ai-users": true}}, ""},
		"nothing":                    {nil, ""},
	} {
		got, err := s.Person(p.token(c.claims))
		var none *identity.NoRoleError
		switch {
		case c.role != "" && (err != nil || got.Role != c.role):
			t.Errorf("%s: %q, %v; want %s", name, got.Role, err, c.role)
		case c.role == "" && !errors.As(err, &none):
			t.Errorf("%s: %q, %v; want no role", name, got.Role, err)
		}
	}
	var none *identity.NoRoleError
	if _, err := s.Person(p.token(object{"groups": []any{"sales"}})); !errors.As(err, &none) || !strings.Contains(none.Seen, "groups sales") {
		t.Errorf("the operator is told %v", err)
	}
}

func TestEntraTellsAPersonByTenantAndObject(t *testing.T) {
	const entra = "https://login.microsoftonline.com/8f1e/v2.0"
	p := newIDP(t)
	_, set := p.answer("/keys")
	p.answer = func(string) (int, string) { return 200, set }
	s := p.issuers(func(i *identity.Issuer) { i.URL, i.KeySet = entra, issuerURL+"/keys" })
	one := person(t, s, p.token(object{"iss": entra, "sub": "pairwise-1", "tid": "8f1e", "oid": "1"}))
	if other := person(t, s, p.token(object{"iss": entra, "sub": "pairwise-2", "tid": "8f1e", "oid": "1"})); other.ID != one.ID {
		t.Error("the subject of another application is another person")
	}
	if _, err := s.Person(p.token(object{"iss": entra})); !errors.Is(err, identity.ErrInvalid) {
		t.Errorf("without oid: %v", err)
	}
}

func TestIssuersThatTheConfigurationMustNotHave(t *testing.T) {
	good := identity.Issuer{Name: "ci", URL: issuerURL, Audiences: []string{audience}, Rules: []identity.Rule{{Role: "r"}}}
	condition := func(claim string, values ...string) []identity.Rule {
		return []identity.Rule{{Role: "r", Conditions: []identity.Condition{{Claim: claim, Values: values}}}}
	}
	for why, change := range map[string]func(*identity.Issuer){
		"https URL":                 func(i *identity.Issuer) { i.URL = "idp.example.com" },
		"http is only possible":     func(i *identity.Issuer) { i.URL = "http://idp.example.com" },
		"audience is missing":       func(i *identity.Issuer) { i.Audiences = nil },
		"role is missing":           func(i *identity.Issuer) { i.Rules = nil },
		"max_life":                  func(i *identity.Issuer) { i.MaxLife = -time.Second },
		"keys":                      func(i *identity.Issuer) { i.KeySet = "http://idp.example.com/keys" },
		"everybody can get a token": func(i *identity.Issuer) { i.URL = "https://token.actions.githubusercontent.com" },
		"stands beside":             func(i *identity.Issuer) { i.Rules = condition("repository", "acme*") },
		"beside one of":             func(i *identity.Issuer) { i.Rules = condition("email", "*acme.com") },
		"at one end only":           func(i *identity.Issuer) { i.Rules = condition("repository", "acme/*/app") },
		"\"*\" stands at":           func(i *identity.Issuer) { i.Rules = condition("repository", "*") },
		"stands at one end only":    func(i *identity.Issuer) { i.Rules = condition("sub", "*:acme/*") },
		"says: use groups": func(i *identity.Issuer) {
			i.URL, i.Rules = "https://acme.ciamlogin.com/8f1e/v2.0", condition("/email", "a@b.c")
		},
		"a claim and its values": func(i *identity.Issuer) { i.Rules = condition("repository") },
		"at Entra people": func(i *identity.Issuer) {
			i.URL, i.Rules = "https://login.microsoftonline.com/8f1e/v2.0", condition("email", "a@b.c")
		},
	} {
		issuer := good
		change(&issuer)
		if _, err := identity.New([]identity.Issuer{issuer}, identity.Deps{Client: http.DefaultClient, Now: time.Now}); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want one about %q", err, why)
		}
	}
	if _, err := identity.New([]identity.Issuer{good, good}, identity.Deps{Client: http.DefaultClient, Now: time.Now}); err == nil {
		t.Error("two identities have one issuer")
	}
	local := good
	local.URL = "http://127.0.0.1:8080/realm"
	if _, err := identity.New([]identity.Issuer{local}, identity.Deps{Client: http.DefaultClient, Now: time.Now}); err != nil {
		t.Error(err)
	}
}
