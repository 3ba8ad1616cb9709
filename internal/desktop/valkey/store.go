package valkey

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

var (
	//go:embed living.lua
	livingText string
	//go:embed get.lua
	getText string
	//go:embed find.lua
	findText string
	//go:embed open.lua
	openText string
	//go:embed swap.lua
	swapText string

	getScript  = newScript("desktop get", getText)
	findScript = newScript("desktop find", findText)
	openScript = newScript("desktop open", openText)
	swapScript = newScript("desktop swap", swapText)

	prefixesScript = newScript("desktop prefixes",
		"return redis.call('ZREVRANGEBYSCORE', T .. ARGV[4], '+inf', ARGV[5], 'LIMIT', 0, ARGV[6])")
	issuedScript = newScript("desktop issued", "return redis.call('SMEMBERS', T .. ARGV[4])")
)

func newScript(name, text string) *valkey.Script { return cluster.NewScript(name, livingText+text) }

const (
	// maxPrefixes is with how many tokens the response of a viewer with VNC authentication is compared:
	// the latest. Each costs a DES key schedule.
	maxPrefixes = 4096
	// healTime is how long a message waits for the node to get its lease again, or to replay.
	healTime = 1500 * time.Millisecond
	// batch is how many workstations one message is about: the engine does nothing else meanwhile.
	batch = 256
)

// store implements [desktop.Store].
type store struct {
	codec
	node   Node
	recent *recent
}

func (s *store) Node() string { return s.node.ID() }

// Own returns none: other gateways know of each workstation.
func (s *store) Own() []desktop.ID { return nil }

func (s *store) Find(ctx context.Context, shown desktop.Shown) (f desktop.Found, err error) {
	key, prefix := tokenKey(shown.Hash), ""
	if shown.Prefix != "" {
		key, prefix = tokenKeys, prefixKeys+shown.Prefix
	}
	parts, err := answer(s.node.Run(ctx, findScript, key, prefix, workstationKeys, nodeKeys))(4)
	if err != nil {
		return f, err
	}
	stored, err := parts[1].ToString()
	if why, dead := strings.CutPrefix(stored, deadMark); dead || stored == "" || err != nil {
		if f.Code = desktop.RefusalCode(why); !dead {
			f.Code = desktop.RefusedUnknown
		}
		return f, err
	}
	f.Workstation, err = s.read(parts[0], parts[2], stored)
	if err != nil {
		return f, err
	}
	sessions, err := parts[3].AsInt64()
	f.Sessions = int(sessions)
	for _, t := range f.Workstation.Tokens {
		if t.Hash == shown.Hash || shown.Prefix != "" && t.Prefix == shown.Prefix {
			f.Token = s.recent.traced(t)
			return f, err
		}
	}
	f.Code = desktop.RefusedUnknown
	return f, err
}

func (s *store) Load(ctx context.Context, ids ...desktop.ID) (all []*desktop.Workstation, err error) {
	for len(ids) > 0 {
		n := min(batch, len(ids))
		keys := make([]string, n)
		for i, id := range ids[:n] {
			keys[i] = workstationKeys + id.String()
		}
		parts, err := answer(s.node.Run(ctx, getScript, keys...))(1 + n)
		if err != nil {
			return nil, err
		}
		for i, id := range ids[:n] {
			w, err := s.read(parts[0], parts[1+i], id.String())
			if err != nil {
				return nil, err
			}
			all = append(all, w)
		}
		ids = ids[n:]
	}
	return all, nil
}

func (s *store) Open(ctx context.Context, ids ...desktop.ID) (all []*desktop.Workstation, err error) {
	args := []string{workstationKeys, nodeKeys, noteKeys}
	for _, id := range ids {
		args = append(args, id.String())
	}
	parts, err := answer(s.node.Run(ctx, openScript, args...))(2)
	if err != nil {
		return nil, err
	}
	notes, err := parts[1].AsStrSlice()
	if err != nil {
		return nil, err
	}
	traffic := make(map[string][2]int64)
	for _, note := range notes {
		_ = json.Unmarshal([]byte(note), &traffic) // "" of a node before its first beat
	}
	for rest := parts[2:]; len(rest) >= 2; rest = rest[2:] {
		name, err := rest[0].ToString()
		if err != nil {
			return nil, err
		}
		w, err := s.read(parts[0], rest[1], name)
		if err != nil {
			return nil, err
		}
		for _, x := range w.Sessions {
			x.Up, x.Down = traffic[x.ID][0], traffic[x.ID][1]
		}
		all = append(all, w)
	}
	return all, nil
}

// read decodes an answer.
func (s *store) read(nodes, value valkey.Reply, name string) (*desktop.Workstation, error) {
	living, err := nodes.AsStrSlice()
	if err != nil {
		return nil, err
	}
	text, err := value.ToString()
	if err != nil {
		return nil, err
	}
	return s.decode(text, name, living)
}

func (s *store) Swap(ctx context.Context, c *desktop.Change) (desktop.Outcome, error) {
	args, err := s.arguments(c)
	if err != nil {
		return 0, err
	}
	run := s.heal
	if c.Restates {
		run = s.node.Run // it is part of what others wait for
	}
	reply, err := run(ctx, swapScript, args...)
	if err != nil {
		return 0, err
	}
	word, err := reply.ToString()
	if err != nil {
		return 0, err
	}
	outcome, ok := outcomes[word]
	if !ok {
		return 0, fmt.Errorf("the engine answers %.40q", word)
	}
	if outcome == desktop.Stored {
		s.recent.add(c.After.ID, c.Issued())
		if c.Concerns(s.node.ID()) {
			s.recent.refresh(c.After)
			_ = s.node.Publish(ctx, eventChanged, c.After.ID.String()) // their next beat finds it
		}
	}
	return outcome, nil
}

var outcomes = map[string]desktop.Outcome{
	"stored": desktop.Stored, "changed": desktop.Changed, "taken": desktop.Taken, "full": desktop.Full,
}

// heal runs a script, again if the node has to get its lease back or to replay first.
func (s *store) heal(ctx context.Context, script *valkey.Script, args ...string) (valkey.Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, healTime)
	defer cancel()
	for {
		reply, err := s.node.Run(ctx, script, args...)
		if !errors.Is(err, cluster.ErrLeaseLost) && !errors.Is(err, cluster.ErrFenced) {
			return reply, err
		}
		if s.node.Await(ctx) != nil {
			return reply, err
		}
	}
}

func (s *store) Prefixes(ctx context.Context) ([]string, error) {
	reply, err := s.node.Run(ctx, prefixesScript, prefixTimes, s.score(s.now()), strconv.Itoa(maxPrefixes))
	if err != nil {
		return nil, err
	}
	return reply.AsStrSlice()
}

func (s *store) IssuedTo(ctx context.Context, tenant, key string) (ids []desktop.ID, err error) {
	reply, err := s.node.Run(ctx, issuedScript, ownerKey(tenant, key))
	if err != nil {
		return nil, err
	}
	names, err := reply.AsStrSlice()
	for _, name := range names {
		ids = append(ids, parseID(name))
	}
	return ids, err
}

// answer reads an answer of some parts, at least so many.
func answer(reply valkey.Reply, err error) func(least int) ([]valkey.Reply, error) {
	return func(least int) ([]valkey.Reply, error) {
		if err != nil {
			return nil, err
		}
		parts, err := reply.ToArray()
		if err == nil && len(parts) < least {
			err = fmt.Errorf("the engine answers %d parts", len(parts))
		}
		return parts, err
	}
}

// parseID is the inverse of ID.String: a tenant has no slash.
func parseID(text string) (id desktop.ID) {
	id.Tenant, id.Name, _ = strings.Cut(text, "/")
	return id
}

var _ desktop.Store = (*store)(nil)
