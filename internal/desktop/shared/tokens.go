package shared

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// The scripts. desk.lua draws the keys, and comes before each of them.
var (
	//go:embed desk.lua
	deskText string
	//go:embed issue.lua
	issueText string
	//go:embed find.lua
	findText string
	//go:embed prefixes.lua
	prefixesText string
	//go:embed revoke.lua
	revokeText string

	issueScript    = cluster.NewScript("desk issue", deskText+issueText)
	findScript     = cluster.NewScript("desk find", deskText+findText)
	prefixesScript = cluster.NewScript("desk prefixes", deskText+prefixesText)
	revokeScript   = cluster.NewScript("desk revoke", deskText+revokeText)
)

const (
	// maxPrefixes is against how many tokens the response of a viewer with VNC authentication is held:
	// the latest. Each costs a DES key schedule.
	maxPrefixes = 4096
	// longestToken is how long the revocation of a key is remembered, beyond any max_duration in use.
	longestToken = 366 * 24 * time.Hour
	// healTime is how long a message waits for the node to get its lease again, or to replay.
	healTime = 1500 * time.Millisecond
)

// tokens implements [desktop.Engine].
type tokens struct {
	node Node
	now  func() time.Time
}

// local is a time of the engine by this gateway's clock.
func (e *tokens) local(us string) time.Time {
	n, _ := strconv.ParseInt(us, 10, 64)
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMicro(n).Add(e.now().Sub(e.node.Now()))
}

// remote is the inverse of local; "" for no time.
func (e *tokens) remote(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return strconv.FormatInt(t.Add(e.node.Now().Sub(e.now())).UnixMicro(), 10)
}

func micros(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }

// heal runs a script, again if the node has to get its lease back or to replay first.
func (e *tokens) heal(ctx context.Context, s *valkey.Script, args ...string) (valkey.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, healTime)
	defer cancel()
	for {
		reply, err := e.node.Run(ctx, s, args...)
		if !errors.Is(err, cluster.ErrLeaseLost) && !errors.Is(err, cluster.ErrFenced) {
			return reply, err
		}
		if e.node.Await(ctx) != nil {
			return reply, err
		}
	}
}

// issuer is the JSON of a token's issuer.
type issuer struct {
	Tenant string `json:"t"`
	Key    string `json:"k"`
	Hash   string `json:"h,omitempty"`
	User   string `json:"u,omitempty"`
}

func encodeIssuer(by desktop.Issuer) string {
	text, _ := json.Marshal(issuer{by.Tenant, by.Key, by.KeyHash, by.User}) // of strings only
	return string(text)
}

func flags(t *desktop.SharedToken) (text string) {
	if t.ViewOnly {
		text += "v"
	}
	if t.Shared {
		text += "s"
	}
	if t.Once {
		text += "o"
	}
	return text + claims[t.Claim]
}

// claims are the flags of claims.
var claims = [...]string{desktop.ByRule: "", desktop.Yield: "y", desktop.TakeOwn: "m", desktop.TakeAny: "a"}

func flag(yes bool) string {
	if yes {
		return "1"
	}
	return ""
}

func address(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	return a.String()
}

// rules are the words of the scripts.
var rules = map[desktop.Conflict]string{desktop.Refuse: "refuse", desktop.Replace: "replace", desktop.Share: "share"}

func (e *tokens) Issue(ctx context.Context, t *desktop.SharedToken, life, longest time.Duration, most int) (desktop.IssueOutcome, error) {
	reply, err := e.heal(ctx, issueScript, t.Hash, t.Workstation.String(), owner(t.Issuer.Tenant, t.Issuer.Key), encodeIssuer(t.Issuer),
		flags(t), micros(life), micros(longest), e.remote(t.Issuer.Until), strconv.FormatInt(t.Generation, 10), strconv.Itoa(most), t.Prefix)
	answer, err := words(reply, err, 1)
	if err != nil {
		return "", err
	}
	outcome := desktop.IssueOutcome(answer[0])
	if outcome == desktop.IssueOK && len(answer) == 4 {
		t.Issued, _ = strconv.ParseInt(answer[1], 10, 64)
		t.Until, t.Deadline = e.local(answer[2]), e.local(answer[3])
	}
	return outcome, nil
}

// shownToken is what find.lua answers.
type shownToken struct {
	Code  desktop.RefusalCode `json:"code"`
	Look  desktop.RefusalCode `json:"look"`
	Token struct {
		Hash       string `json:"hash"`
		Desk       string `json:"desk"`
		Issuer     string `json:"issuer"`
		Flags      string `json:"flags"`
		Issued     int64  `json:"issued,string"`
		Ends       string `json:"ends"`
		Deadline   string `json:"deadline"`
		Client     string `json:"client"`
		Generation int64  `json:"generation,string"`
		Prefix     string `json:"prefix"`
	} `json:"token"`
}

func (e *tokens) Find(ctx context.Context, shown desktop.Shown, terms desktop.Terms) (f desktop.Found, err error) {
	reply, err := e.node.Run(ctx, findScript, shown.Hash, shown.Prefix, rules[terms.Rule], strconv.Itoa(terms.MaxSessions), address(terms.Client))
	if err != nil {
		return f, err
	}
	text, err := reply.ToString()
	if err != nil {
		return f, err
	}
	var head struct {
		Code desktop.RefusalCode `json:"code"`
	}
	if err := json.Unmarshal([]byte(text), &head); err != nil || head.Code != "" {
		return desktop.Found{Code: head.Code}, err
	}
	var a shownToken
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return f, fmt.Errorf("the engine's token: %w", err)
	}
	var by issuer
	if err := json.Unmarshal([]byte(a.Token.Issuer), &by); err != nil {
		return f, fmt.Errorf("the engine's token: %w", err)
	}
	t := desktop.SharedToken{
		Hash: a.Token.Hash, Prefix: a.Token.Prefix, Issuer: desktop.Issuer{Tenant: by.Tenant, Key: by.Key, KeyHash: by.Hash, User: by.User},
		Issued: a.Token.Issued, Until: e.local(a.Token.Ends), Deadline: e.local(a.Token.Deadline), Generation: a.Token.Generation,
	}
	t.Workstation, _ = parseDesk(a.Token.Desk)
	t.Client, _ = netip.ParseAddr(a.Token.Client) // none before the first use
	for _, c := range a.Token.Flags {
		t.ViewOnly, t.Shared, t.Once = t.ViewOnly || c == 'v', t.Shared || c == 's', t.Once || c == 'o'
		if i := slices.Index(claims[:], string(c)); i > 0 {
			t.Claim = desktop.Claim(i)
		}
	}
	return desktop.Found{Token: t, Look: a.Look}, nil
}

func (e *tokens) Prefixes(ctx context.Context) ([]string, error) {
	reply, err := e.node.Run(ctx, prefixesScript, strconv.Itoa(maxPrefixes))
	return words(reply, err, 0)
}

// ping returns an error unless the engine answers.
func (e *tokens) ping(ctx context.Context) error {
	_, err := e.node.Run(ctx, prefixesScript, "0")
	return err
}

func (e *tokens) Revoke(ctx context.Context, tenant, key string, end time.Time) error {
	by := owner(tenant, key)
	reply, err := e.node.Run(ctx, revokeScript, by, e.remote(end), micros(longestToken))
	if err != nil {
		return err
	}
	before, err := reply.ToString()
	if err != nil {
		return err
	}
	_ = e.node.Publish(ctx, eventRevoked, before+" "+e.remote(end)+" "+by) // the next beat has it
	return nil
}

// words reads an answer of some strings, at least so many.
func words(reply valkey.Reply, err error, least int) ([]string, error) {
	if err != nil {
		return nil, err
	}
	answer, err := reply.AsStrSlice()
	if err == nil && len(answer) < least {
		err = fmt.Errorf("the engine answers %d words", len(answer))
	}
	return answer, err
}
