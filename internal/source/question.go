package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/guest"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// version is that of questions and answers.
const version = 1

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
	Reason  guest.Reason `json:"reason"`
	Name    string       `json:"workstation_id"`
	Caller  guest.Caller `json:"caller"`
	Session struct {
		ViewOnly bool `json:"view_only"`
	} `json:"session"`
}

type listQuestion struct {
	head
	Cursor string `json:"cursor"`
	Limit  int    `json:"limit"`
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

// parseAnswer is strict: a rule of the session that is spelt wrongly must not allow more. Errors
// quote nothing of the answer but names of members.
func parseAnswer(body []byte) (a guest.Answer, err error) {
	var in struct {
		Decision     guest.Decision  `json:"decision"`
		Address      string          `json:"address"`
		Generation   string          `json:"generation"`
		Credential   string          `json:"credential"`
		Login        *guest.Login    `json:"login"`
		Session      json.RawMessage `json:"session"`
		CacheSeconds *int64          `json:"cache_seconds"`
		Reason       string          `json:"reason"`
		RetryAfter   int64           `json:"retry_after"`
	}
	if jsonscan.Unambiguous(body) != nil { // another reader would read another decision
		return a, errors.New("it is no JSON object, or has a member twice")
	}
	if err := decode(body, &in); err != nil {
		return a, err
	}
	a = guest.Answer{
		Decision: in.Decision, Address: in.Address, Generation: in.Generation, Credential: in.Credential, Login: in.Login,
		Session: in.Session, Reason: in.Reason, RetryAfter: seconds(in.RetryAfter),
	}
	if in.CacheSeconds != nil {
		cache := seconds(*in.CacheSeconds)
		a.Cache = &cache
	}
	return a, nil
}

// bounded checks an answer and returns what of it counts, and for how long at most. Its errors quote
// nothing of it.
func bounded(in guest.Answer) (a guest.Answer, life time.Duration, err error) {
	a = guest.Answer{Decision: in.Decision, Reason: plainReason(in.Reason)}
	switch in.Decision {
	case guest.Deny, guest.Unknown:
		return a, negative, nil
	case guest.Wait:
		a.RetryAfter = usualWait
		if in.RetryAfter > 0 {
			a.RetryAfter = min(in.RetryAfter, mostWait)
		}
		return a, a.RetryAfter, nil
	case guest.Allow:
	default:
		return a, 0, errors.New("decision: want allow, deny, unknown or wait")
	}
	a.Address, a.Generation, a.Credential, a.Login = in.Address, in.Generation, in.Credential, in.Login
	if string(in.Session) != "null" {
		a.Session = in.Session
	}
	life = maxCache
	if in.Cache != nil {
		life = min(max(*in.Cache, 0), maxCache)
	}
	return a, life, checkAllow(&a)
}

// checkAllow is for an "allow".
func checkAllow(a *guest.Answer) error {
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

// seconds is a time that a control plane has given, a day at most.
func seconds(n int64) time.Duration {
	const day = 24 * time.Hour
	return time.Duration(min(max(n, 0), int64(day/time.Second))) * time.Second
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

// parseList reads a page of a list.
func parseList(body []byte) (items []guest.Item, next string, err error) {
	var in struct {
		Decision guest.Decision `json:"decision"`
		Items    []guest.Item   `json:"items"`
		Next     string         `json:"next"`
	}
	switch err := decode(body, &in); {
	case err != nil:
		return nil, "", err
	case in.Decision == guest.Unknown:
		return nil, "", guest.ErrNoList
	case in.Items == nil:
		return nil, "", errors.New(`items: want a list, or {"decision":"unknown"} where there is none`)
	}
	return in.Items, in.Next, nil
}
