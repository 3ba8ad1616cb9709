package desktop

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// Defaults of a Policy.
const (
	DefaultPort            = 5900
	DefaultConnectWithin   = 5 * time.Minute
	DefaultReconnectWithin = 2 * time.Minute
	DefaultMaxDuration     = 12 * time.Hour
	DefaultMaxTokens       = 16
	DefaultMaxSessions     = 1000
	DefaultMaxRegistered   = 1000
)

// Conflict says what happens to a viewer that connects while a session is open at the workstation,
// unless both are shared.
type Conflict int

// The rules.
const (
	Refuse  Conflict = iota // the new session is refused; the default
	Replace                 // the open sessions end, the new one joins
	Share                   // all sessions are shared
)

// Policy is the configuration of all workstations. Zero durations and numbers take their defaults.
type Policy struct {
	Domain string // tokens are labels under it: <token>.<Domain>:<Port>
	Port   int    // as viewers see it; default 5900

	ConnectWithin   time.Duration // from issue to first use; default 5 min
	ReconnectWithin time.Duration // from the end of a token's last session to its next; default 2 min
	MaxDuration     time.Duration // from issue to the end of token and sessions; default 12 h

	OnConflict Conflict

	MaxTokens     int // live tokens a workstation; default 16, of all gateways that share them
	MaxSessions   int // open sessions in all; default 1000, of all gateways that share them
	MaxRegistered int // run-time workstations a tenant; default 1000

	PinClient bool // a token is good only for the address that used it first
	VNCAuth   bool // keep the first 8 characters of new tokens, for viewers that can show no more
	ViewOnly  bool // of sessions whose issuer does not say

	ReturnAfter           time.Duration // for which a person without input holds what an agent wants; default 10 min
	ScreenshotsDuringHold bool          // agents see the desktop while a person holds the input

	FixedSize bool         // viewers cannot change the desktop's size
	Session   SessionRules // of all sessions
	Records   bool         // sessions can be recorded

	// Networks are where a workstation registered at run time may be. Empty turns registration off.
	// Loopback, link-local and similar addresses, and the gateway's own listeners, must be named
	// exactly, by a /32 or /128.
	Networks []netip.Prefix
	Ports    Ports // where they may listen

	Credentials map[string]Credential // what a registration may name
}

func (p *Policy) fill() {
	p.Port = cmp.Or(p.Port, DefaultPort)
	p.MaxDuration = cmp.Or(p.MaxDuration, DefaultMaxDuration)
	p.ConnectWithin = cmp.Or(p.ConnectWithin, min(DefaultConnectWithin, p.MaxDuration))
	p.ReconnectWithin = cmp.Or(p.ReconnectWithin, DefaultReconnectWithin)
	p.ReturnAfter = cmp.Or(p.ReturnAfter, DefaultReturnAfter)
	p.MaxTokens = cmp.Or(p.MaxTokens, DefaultMaxTokens)
	p.MaxSessions = cmp.Or(p.MaxSessions, DefaultMaxSessions)
	p.MaxRegistered = cmp.Or(p.MaxRegistered, DefaultMaxRegistered)
	// Its options fps and idle_timeout have no upper bound, and gateways read each other's rules strictly.
	p.Session.FPS, p.Session.IdleTimeout = min(p.Session.FPS, maxFPS), min(p.Session.IdleTimeout, maxTime)
}

// check wants a filled policy; it brings domain and networks into the form
// that comparisons rely on.
func (p *Policy) check() error {
	domain, err := cleanDomain(p.Domain)
	if err != nil {
		return err
	}
	p.Domain = domain
	for name, value := range map[string]time.Duration{
		"connect_within": p.ConnectWithin, "reconnect_within": p.ReconnectWithin,
		"max_duration": p.MaxDuration, "idle_timeout": p.Session.IdleTimeout, "return_after": p.ReturnAfter,
	} {
		if value < 0 {
			return fmt.Errorf("%s: %s is negative", name, value)
		}
	}
	if p.ConnectWithin < minLife {
		return fmt.Errorf("connect_within: %s is shorter than %s", p.ConnectWithin, minLife)
	}
	if p.ConnectWithin > p.MaxDuration {
		return fmt.Errorf("connect_within %s is longer than max_duration %s", p.ConnectWithin, p.MaxDuration)
	}
	if p.Port < 1 || p.Port > 65535 {
		return fmt.Errorf("port %d is not one of 1 to 65535", p.Port)
	}
	if p.MaxTokens < 1 || p.MaxSessions < 1 || p.MaxRegistered < 1 {
		return errors.New("the greatest number of tokens, sessions or registered workstations is negative")
	}
	if p.OnConflict < Refuse || p.OnConflict > Share {
		return fmt.Errorf("on_conflict: unknown rule %d", p.OnConflict)
	}
	p.Networks = slices.Clone(p.Networks)
	for i, n := range p.Networks {
		if p.Networks[i], err = cleanNetwork(n); err != nil {
			return fmt.Errorf("register_networks: %w", err)
		}
	}
	for name := range p.Credentials {
		if !validName.MatchString(name) {
			return fmt.Errorf("credential %.140q: %s", name, nameRule)
		}
	}
	return nil
}

// mayRecord refuses rules that want a recording where none can be made.
func (p *Policy) mayRecord(r SessionRules) error {
	if r.Record == RecordOff || p.Records {
		return nil
	}
	return apierror.New(apierror.InvalidValue, "session.record %s: this gateway records nothing, as vnc has no record block", r.Record).
		WithParam("session.record")
}

const (
	maxDomain = 253 - tokenLength - len(".") // RFC 1035 section 2.3.4: a name has at most 253 characters
	maxLabel  = 63
)

var validDomainLabel = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

func cleanDomain(domain string) (string, error) {
	if domain == "" {
		return "", errors.New("domain: none is set")
	}
	if net.ParseIP(domain) != nil {
		return "", fmt.Errorf("domain %q is an address: no token can stand before it", domain)
	}
	if len(domain) > maxDomain {
		return "", fmt.Errorf("domain %.60q… has %d characters; at most %d are possible", domain, len(domain), maxDomain)
	}
	lower := lowerASCII(domain)
	for label := range strings.SplitSeq(lower, ".") {
		if len(label) > maxLabel || !validDomainLabel.MatchString(label) {
			return "", fmt.Errorf("domain %q: %q is not a label of letters, digits and hyphens", domain, label)
		}
	}
	return lower, nil
}

// Warning is a line for the log at load: what works, but not for all viewers. "" is none.
func (p Policy) Warning() string {
	if !strings.Contains(p.Domain, "-") {
		return ""
	}
	return fmt.Sprintf("the domain %q has a hyphen: TigerVNC from 1.16 on then sends no server name, and its users must type the token", p.Domain)
}

// lowerASCII changes ASCII only: Unicode folding would take a Kelvin sign for a k.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
