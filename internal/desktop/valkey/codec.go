package valkey

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

// The keys, all behind that of the cluster. A build whose layout is another has another number here, so
// that gateways of two builds do not misread each other.
//
//	desktop2:at:TENANT/NAME   string  the version, 16 digits, and JSON of a workstation
//	desktop2:token:HASH       string  the workstation of a token; of a dead one "!" and why
//	desktop2:prefix:PREFIX    string  the hash of the token that begins so
//	desktop2:prefixes         zset    prefix -> until when a viewer's response is compared with it
//	desktop2:key:TENANT/KEY   set     workstations where the key may have tokens or sessions
//	desktop2:node:ID          hash    session of a node -> its workstation
//	desktop2:note:ID          string  JSON: session of a node -> bytes up and down
//
// Times in values are the engine's.
const (
	layout          = "desktop2:"
	workstationKeys = layout + "at:"
	tokenKeys       = layout + "token:"
	prefixKeys      = layout + "prefix:"
	prefixTimes     = layout + "prefixes"
	ownerKeys       = layout + "key:"
	nodeKeys        = layout + "node:"
	noteKeys        = layout + "note:"

	deadMark      = "!"
	versionDigits = 16
)

func tokenKey(h desktop.Hash) string { return tokenKeys + hex.EncodeToString(h[:]) }

func ownerKey(tenant, key string) string { return ownerKeys + tenant + "/" + key }

// codec brings a workstation into the form of the engine, and back.
type codec struct {
	now    func() time.Time // by this gateway's clock
	engine func() time.Time // the same by the engine's
}

// ahead is how far the clock of the engine is.
func (c *codec) ahead() time.Duration { return c.engine().Sub(c.now()) }

// until is a time of the engine in milliseconds.
func (c *codec) until(t time.Time) string {
	return strconv.FormatInt(t.Add(c.ahead()).UnixMilli(), 10)
}

// score is a time of the engine in seconds.
func (c *codec) score(t time.Time) string { return strconv.FormatInt(t.Add(c.ahead()).Unix(), 10) }

// shift returns a workstation with all times later.
func shift(w *desktop.Workstation, by time.Duration) *desktop.Workstation {
	token := func(t *desktop.Token) *desktop.Token {
		s := *t
		s.Issued, s.Until, s.Deadline = t.Issued.Add(by), t.Until.Add(by), t.Deadline.Add(by)
		return &s
	}
	shifted := *w
	if !w.Refreshed.IsZero() {
		shifted.Refreshed = w.Refreshed.Add(by)
	}
	shifted.Hold = w.Hold.Shift(by)
	shifted.Tokens, shifted.Sessions = nil, nil
	for _, t := range w.Tokens {
		shifted.Tokens = append(shifted.Tokens, token(t))
	}
	for _, x := range w.Sessions {
		s := *x
		s.Token, s.Started, s.Until = token(x.Token), x.Started.Add(by), x.Until.Add(by)
		shifted.Sessions = append(shifted.Sessions, &s)
	}
	return &shifted
}

// decode reads a value. Sessions of nodes that do not live are lost.
func (c *codec) decode(text, name string, living []string) (*desktop.Workstation, error) {
	w := new(desktop.Workstation)
	if len(text) >= versionDigits {
		version, err := strconv.ParseUint(text[:versionDigits], 16, 64)
		if err == nil {
			err = json.Unmarshal([]byte(text[versionDigits:]), w)
		}
		if err != nil {
			return nil, fmt.Errorf("the engine's workstation %s: %w", name, err)
		}
		w = shift(w, -c.ahead())
		w.Version = version
	}
	w.ID = parseID(name)
	for _, x := range w.Sessions {
		x.Lost = !slices.Contains(living, x.Node)
	}
	return w, nil
}

// arguments are those of swap.lua for a change.
func (c *codec) arguments(change *desktop.Change) ([]string, error) {
	w := change.After
	key, need, seen := workstationKeys+w.ID.String(), "", ""
	if change.Before.Version != 0 {
		seen = version(change.Before.Version)
	}
	issued, opened := change.Issued(), change.Opened()
	switch {
	case change.Most > 0:
		need = "fence"
	case len(issued) > 0 || len(opened) > 0:
		need = "lease"
	}
	absent := []string{}
	for _, t := range issued {
		absent = append(absent, tokenKey(t.Hash))
		if t.Prefix != "" {
			absent = append(absent, prefixKeys+t.Prefix)
		}
	}
	commands, err := c.commands(change, key)
	if err != nil {
		return nil, err
	}
	taken, err1 := json.Marshal(absent)
	writes, err2 := json.Marshal(commands)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("%w, %w", err1, err2)
	}
	return []string{need, key, seen, string(taken), strconv.Itoa(change.Most), nodeKeys, string(writes)}, nil
}

func version(n uint64) string { return fmt.Sprintf("%0*x", versionDigits, n) }

// commands are what a change writes.
func (c *codec) commands(change *desktop.Change, key string) (commands [][]string, err error) {
	write := func(words ...string) { commands = append(commands, words) }
	w, now, name := change.After, c.now(), change.After.ID.String()
	last := now
	for _, t := range change.Issued() {
		owner, ends := ownerKey(t.Issuer.Tenant, t.Issuer.Key), c.until(t.Until.Add(desktop.Remembered))
		write("SET", tokenKey(t.Hash), name, "PXAT", ends)
		if t.Prefix != "" {
			write("SET", prefixKeys+t.Prefix, hex.EncodeToString(t.Hash[:]), "PXAT", ends)
		}
		write("ZREMRANGEBYSCORE", owner, "-inf", c.score(now))
		write("ZADD", owner, "GT", c.score(t.Until.Add(desktop.Remembered)), name)
		write("PEXPIREAT", owner, ends, "NX")
		write("PEXPIREAT", owner, ends, "GT")
	}
	prefixes := []string{"ZADD", prefixTimes}
	for _, t := range w.Tokens {
		last = later(last, t.Until)
		if t.Prefix != "" {
			prefixes = append(prefixes, c.score(heldUntil(w, t)), t.Prefix)
		}
	}
	for _, t := range w.Dead {
		write("SET", tokenKey(t.Hash), deadMark+string(t.Why), "PXAT", c.until(now.Add(desktop.Remembered)))
		if t.Prefix != "" {
			write("PEXPIREAT", prefixKeys+t.Prefix, c.until(now.Add(desktop.Remembered)))
			prefixes = append(prefixes, c.score(now.Add(desktop.RecentDeath)), t.Prefix)
		}
	}
	if len(prefixes) > 2 {
		for some := range slices.Chunk(prefixes[2:], 2*mostPairs) {
			write(append(slices.Clone(prefixes[:2]), some...)...)
		}
		write("ZREMRANGEBYSCORE", prefixTimes, "-inf", c.score(now))
	}
	for _, x := range change.Closed() {
		write("HDEL", nodeKeys+x.Node, x.ID)
	}
	for _, x := range change.Opened() {
		write("HSET", nodeKeys+x.Node, x.ID, name)
	}
	for _, x := range w.Sessions {
		last = later(last, x.Until)
	}
	if len(w.Tokens) == 0 && len(w.Sessions) == 0 && w.Generation == 0 && !w.Shut && w.Refreshed.IsZero() && w.Hold.Idle() {
		write("DEL", key)
		return commands, nil
	}
	text, err := json.Marshal(shift(w, c.ahead()))
	// A version is never used again, so that a value which was lost is not taken for a later one.
	write("SET", key, version(rand.Uint64()|1)+string(text), "PXAT", c.until(last.Add(desktop.Remembered)))
	return commands, err
}

// mostPairs is how many pairs one command has: Lua takes fewer than 8,000 words.
const mostPairs = 1000

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// heldUntil is how long the response of a viewer that shows the first characters only is compared with
// those of a token: while it lives, and for viewers that retry by themselves a while longer.
func heldUntil(w *desktop.Workstation, t *desktop.Token) time.Time {
	for _, x := range w.Sessions {
		if x.Token.Hash == t.Hash && x.Ended == "" {
			return t.Until.Add(desktop.RecentDeath)
		}
	}
	return t.Deadline.Add(desktop.RecentDeath)
}
