package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// version is that of questions and answers.
const version = 1

// Reason says for what a workstation is wanted.
type Reason string

// The reasons.
const (
	Issue   Reason = "issue"   // somebody asks for an address
	Connect Reason = "connect" // a viewer comes with one
)

// Question is who wants which workstation.
type Question struct {
	Reason       Reason
	Tenant, Name string
	Caller       Caller
	ViewOnly     bool // what the caller has asked for
}

// Caller is who wants the workstation: the key, the user of it, and the address.
type Caller struct {
	Key     string     `json:"key"`
	User    string     `json:"user,omitempty"`   // who used the key, if that is known
	Address netip.Addr `json:"address,omitzero"` // of the client or viewer
}

// The types of questions.
const (
	typeResolve = "workstation.resolve"
	typeList    = "workstation.list"
)

// head begins every question.
type head struct {
	Type    string `json:"type"`
	Version int    `json:"version"`
	Tenant  string `json:"tenant"`
	Gateway string `json:"gateway,omitempty"`
}

type resolveQuestion struct {
	head
	Reason  Reason `json:"reason"`
	Name    string `json:"workstation_id"`
	Caller  Caller `json:"caller"`
	Session struct {
		ViewOnly bool `json:"view_only"`
	} `json:"session"`
}

type listQuestion struct {
	head
	Cursor string `json:"cursor"`
	Limit  int    `json:"limit"`
}

// Decision is what a control plane says.
type Decision string

// The decisions.
const (
	Allow   Decision = "allow"
	Deny    Decision = "deny"    // not this caller, or not now: Reason
	Unknown Decision = "unknown" // there is no such workstation
	Wait    Decision = "wait"    // RetryAfter; it is being started, or somebody must agree
)

// Answer is what a control plane has said. It has a password: fmt prints none of it.
type Answer struct {
	Decision   Decision
	Address    string // host:port
	Generation string // says which machine it is; "": nothing does
	Credential string // the name of a declared one, instead of Login
	Login      *Login
	Session    json.RawMessage // rules of the session, nil for none
	Reason     string          // printable ASCII, "" for none
	RetryAfter time.Duration
	Asked      time.Time // when the question was sent
}

// Format implements fmt.Formatter for every verb.
func (a Answer) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "{answer %s}", a.Decision) }

// Login is how the gateway logs in to the VNC server.
type Login struct {
	User     string    `json:"user"`
	Password string    `json:"password"`
	TLS      *LoginTLS `json:"tls"` // nil: not encrypted
}

// Format implements fmt.Formatter for every verb.
func (Login) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "{login}") }

// LoginTLS is how the VNC server's certificate is checked: by the system's CAs, or by its key.
type LoginTLS struct {
	PinnedKey  string `json:"pinned_key"` // sha256:HEX
	ServerName string `json:"server_name"`
}

const (
	maxReason = 200 // characters; a viewer's window shows one or two lines
	leastWait = time.Second
	usualWait = 10 * time.Second
	mostWait  = 10 * time.Minute
	negative  = 2 * time.Second // how long "deny", "unknown" and an answer that makes no sense count
	maxMember = 1024            // bytes of an address, a user, a password
)

var validGeneration = regexp.MustCompile(`^[A-Za-z0-9._:/-]{0,128}$`)

// parseAnswer is strict: a rule of the session that is spelt wrongly must not allow more. life is how
// long the answer counts at most. Errors quote nothing of the answer but names of members.
func parseAnswer(body []byte) (a Answer, life time.Duration, err error) {
	var in struct {
		Decision     Decision        `json:"decision"`
		Address      string          `json:"address"`
		Generation   string          `json:"generation"`
		Credential   string          `json:"credential"`
		Login        *Login          `json:"login"`
		Session      json.RawMessage `json:"session"`
		CacheSeconds *int64          `json:"cache_seconds"`
		Reason       string          `json:"reason"`
		RetryAfter   int64           `json:"retry_after"`
	}
	if jsonscan.Unambiguous(body) != nil { // another reader would read another decision
		return a, 0, errors.New("it is no JSON object, or has a member twice")
	}
	if err := decode(body, &in); err != nil {
		return a, 0, err
	}
	a = Answer{Decision: in.Decision, Reason: plainReason(in.Reason)}
	switch in.Decision {
	case Deny, Unknown:
		return a, negative, nil
	case Wait:
		a.RetryAfter = usualWait
		if in.RetryAfter > 0 {
			a.RetryAfter = seconds(in.RetryAfter, mostWait)
		}
		return a, a.RetryAfter, nil
	case Allow:
	default:
		return a, 0, errors.New("decision: want allow, deny, unknown or wait")
	}
	a.Address, a.Generation, a.Credential, a.Login = in.Address, in.Generation, in.Credential, in.Login
	if string(in.Session) != "null" {
		a.Session = in.Session
	}
	life = maxCache
	if in.CacheSeconds != nil {
		life = seconds(*in.CacheSeconds, maxCache)
	}
	return a, life, a.check()
}

// check is for an "allow".
func (a *Answer) check() error {
	switch l := a.Login; {
	case a.Address == "" || len(a.Address) > maxMember:
		return errors.New("address: want host:port of the VNC server")
	case !validGeneration.MatchString(a.Generation):
		return errors.New("generation: want at most 128 letters, digits and . _ : / -")
	case l == nil:
		return nil
	case a.Credential != "":
		return errors.New("login, credential: give only one of them")
	case len(l.User) > maxMember || len(l.Password) > maxMember:
		return fmt.Errorf("login: a user and a password have at most %d bytes", maxMember)
	case l.User != "" && (l.TLS == nil || l.Password == ""):
		return errors.New("login: a user is sent only inside TLS and with a password")
	}
	return nil
}

// seconds is a time that a control plane has given, within bounds.
func seconds(n int64, most time.Duration) time.Duration {
	return time.Duration(min(max(n, 0), int64(most/time.Second))) * time.Second
}

// decode reads one JSON object without members that are not known.
func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return fmt.Errorf("unknown member %.40s", name)
		}
		return errors.New("it is no JSON of the documented form") // the cause would quote it
	}
	if d.More() {
		return errors.New("it has more than one JSON value")
	}
	return nil
}

// plainReason is a reason as a viewer's window can show it.
func plainReason(text string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
	return strings.TrimSpace(plain[:min(len(plain), maxReason)])
}

// Item is a workstation in a list.
type Item struct {
	Name   string            `json:"workstation_id"`
	Labels map[string]string `json:"labels"`
	State  string            `json:"state"`
}

// parseList returns nil items, without an error, where the control plane has no list.
func parseList(body []byte) (items []Item, next string, err error) {
	var in struct {
		Decision Decision `json:"decision"`
		Items    []Item   `json:"items"`
		Next     string   `json:"next"`
	}
	if err := decode(body, &in); err != nil {
		return nil, "", err
	}
	if in.Decision == Unknown {
		return nil, "", nil
	}
	if in.Items == nil {
		return nil, "", errors.New(`items: want a list, or {"decision":"unknown"} where there is none`)
	}
	return in.Items, in.Next, nil
}
