package identity

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Issuer is an identity provider, as the configuration has it.
type Issuer struct {
	// Name is that of the block.
	Name string
	// URL is the issuer of its tokens, compared exactly.
	URL string
	// Audiences are for whom tokens are: one of them is among those of a token. None: no token is
	// good, and Client is needed.
	Audiences []string
	// Client is the id of the gateway as a client of the issuer, where people sign in. Default:
	// none.
	Client string
	// KeySet is where its keys are, as a JSON Web Key Set. Default: where its OpenID configuration
	// says.
	KeySet string
	// MaxLife bounds the life of a token. Default: DefaultMaxLife.
	MaxLife time.Duration
	// User is the claim that is shown as a name. Default: the first of email, preferred_username,
	// name and sub that a token has.
	User string
	// Ambient is how the server in front of the gateway names somebody; then there is no issuer.
	// Default: tokens do.
	Ambient *Ambient `json:",omitempty"`
	// Rules choose a role: the first that fits.
	Rules []Rule
}

// Rule gives a role to the holders of tokens in which each condition holds.
type Rule struct {
	Role       string
	Conditions []Condition
}

// Condition holds if a claim has one of the values, or in a list an element that does.
type Condition struct {
	// Claim is the name of a claim, or a JSON pointer (RFC 6901) that begins with a slash.
	Claim string
	// Values are texts; a "*" at an end, beside a separator, stands for any text: repo:acme/*.
	Values []string
}

// shared are issuers of which everybody can get a token: it says nothing without a condition.
var shared = []string{
	"https://token.actions.githubusercontent.com", "https://gitlab.com", "https://accounts.google.com", "https://app.terraform.io",
	"https://login.microsoftonline.com/common/v2.0", "https://login.microsoftonline.com/organizations/v2.0",
	"https://login.microsoftonline.com/consumers/v2.0", "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0",
	"https://agent.buildkite.com", "https://oidc.vercel.com",
}

// separators are what a "*" may stand beside.
const separators = ":/@.-_|,="

// check returns what is wrong with the issuer.
func (i *Issuer) check() error {
	if i.MaxLife < 0 {
		return fmt.Errorf("max_life %v: want a positive duration", i.MaxLife)
	}
	if i.Ambient != nil {
		return i.checkAmbient()
	}
	u, err := url.Parse(i.URL)
	switch {
	case err != nil || u.Host == "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("issuer %q: want an https URL as in the claim iss", i.URL)
	case !secure(u):
		return fmt.Errorf("issuer %q: http is only possible on this machine (127.0.0.1, localhost)", i.URL)
	case len(i.Audiences) == 0 && i.Client == "":
		return errors.New("audience is missing: a token for somebody else must not be good here")
	case i.Client != "" && slices.Contains(i.Audiences, i.Client):
		return errors.New("audience and client are the same: what an issuer says of a sign-in must not be good as a token")
	case len(i.Rules) == 0:
		return errNoRule
	}
	if i.KeySet != "" {
		if u, err := url.Parse(i.KeySet); err != nil || u.Host == "" || !secure(u) {
			return fmt.Errorf("keys %q: want an https URL", i.KeySet)
		}
	}
	for _, rule := range i.Rules {
		if len(rule.Conditions) == 0 && slices.Contains(shared, strings.TrimSuffix(i.URL, "/")) {
			return fmt.Errorf("role %q: everybody can get a token of %s: name a claim that only yours have, such as repository_owner", rule.Role, i.URL)
		}
	}
	return checkRules(i)
}

var errNoRule = errors.New("role is missing: nobody would have one")

func checkRules(i *Issuer) error {
	for _, rule := range i.Rules {
		for _, c := range rule.Conditions {
			if err := c.check(i); err != nil {
				return fmt.Errorf("role %q: %w", rule.Role, err)
			}
		}
	}
	return nil
}

// digest tells configurations of an issuer apart.
func (i *Issuer) digest() string {
	text, _ := json.Marshal(i) // of texts and a duration
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// OnThisMachine reports whether a host of a URL is this machine, to which http is good enough.
func OnThisMachine(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

func secure(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && OnThisMachine(u.Hostname())
}

const emailClaim = "email"

// isEmail reports whether a claim, or a JSON pointer, is that of the address.
func isEmail(claim string) bool { return strings.TrimPrefix(claim, "/") == emailClaim }

func (c *Condition) check(i *Issuer) error {
	switch {
	case c.Claim == "" || len(c.Values) == 0:
		return errors.New("a condition is a claim and its values")
	case isEmail(c.Claim) && isEntra(i.URL):
		return errors.New("at Entra people choose what email says: use groups, roles or oid")
	}
	for _, value := range c.Values {
		text, first, last := stars(value)
		switch {
		case text == "" || strings.Contains(text, "*") || first && last:
			return fmt.Errorf("%s %q: \"*\" stands at one end only", c.Claim, value)
		case first && !strings.Contains(separators, text[:1]), last && !strings.Contains(separators, text[len(text)-1:]):
			return fmt.Errorf("%s %q: \"*\" stands beside one of %s, else others can choose a name that fits", c.Claim, value, separators)
		}
	}
	return nil
}

// entraHosts are those of Microsoft's issuers, or their ends.
var entraHosts = []string{
	"login.microsoftonline.com", "login.microsoftonline.us", "login.partner.microsoftonline.cn", "sts.windows.net", ".ciamlogin.com", ".b2clogin.com",
}

// isEntra reports whether an issuer is Microsoft's, whose subject is another one for each
// application.
func isEntra(issuer string) bool {
	u, err := url.Parse(issuer)
	return err == nil && slices.ContainsFunc(entraHosts, func(host string) bool {
		return u.Hostname() == host || strings.HasPrefix(host, ".") && strings.HasSuffix(u.Hostname(), host)
	})
}

// stars returns a value without the stars at its ends.
func stars(value string) (text string, first, last bool) {
	text, first = strings.CutPrefix(value, "*")
	text, last = strings.CutSuffix(text, "*")
	return text, first, last
}

// fits reports whether a text fits one of the values.
func (c *Condition) fits(text string) bool {
	return slices.ContainsFunc(c.Values, func(value string) bool {
		want, first, last := stars(value)
		switch {
		case first:
			return strings.HasSuffix(text, want)
		case last:
			return strings.HasPrefix(text, want)
		}
		return text == want
	})
}
