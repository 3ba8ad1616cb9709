package valkey

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
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
	issuedScript = newScript("desktop issued", "return redis.call('ZRANGE', T .. ARGV[4], 0, -1)")
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
	parts, err := s.ask(ctx, 4, findScript, key, prefix, workstationKeys, nodeKeys)
	if err != nil {
		return f, err
	}
	stored, err := parts[1].ToString()
	why, dead := strings.CutPrefix(stored, deadMark)
	switch {
	case err != nil:
		return f, err
	case dead:
		return desktop.Found{Code: desktop.RefusalCode(why)}, nil
	case stored == "":
		return desktop.Found{Code: desktop.RefusedUnknown}, nil
	}
	if f.Workstation, err = s.read(parts[0], parts[2], stored); err != nil {
		return f, err
	}
	sessions, err := parts[3].AsInt64()
	f.Sessions, f.Code = int(sessions), desktop.RefusedUnknown
	for _, t := range f.Workstation.Tokens {
		if t.Hash == shown.Hash || shown.Prefix != "" && t.Prefix == shown.Prefix {
			f.Token, f.Code = s.recent.traced(t), ""
		}
	}
	return f, err
}

func (s *store) Load(ctx context.Context, ids ...desktop.ID) (all []*desktop.Workstation, err error) {
	for some := range slices.Chunk(ids, batch) {
		keys := make([]string, len(some))
		for i, id := range some {
			keys[i] = workstationKeys + id.String()
		}
		parts, err := s.ask(ctx, 1+len(some), getScript, keys...)
		if err != nil {
			return nil, err
		}
		for i, id := range some {
			w, err := s.read(parts[0], parts[1+i], id.String())
			if err != nil {
				return nil, err
			}
			all = append(all, w)
		}
	}
	return all, nil
}

func (s *store) Open(ctx context.Context, ids ...desktop.ID) (all []*desktop.Workstation, err error) {
	args := []string{workstationKeys, nodeKeys, noteKeys}
	for _, id := range ids {
		args = append(args, id.String())
	}
	parts, err := s.ask(ctx, 2, openScript, args...)
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
	for pair := range slices.Chunk(parts[2:len(parts)&^1], 2) {
		name, err := pair[0].ToString()
		if err != nil {
			return nil, err
		}
		w, err := s.read(parts[0], pair[1], name)
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

// ask runs a script that answers some parts, at least so many.
func (s *store) ask(ctx context.Context, least int, script *valkey.Script, args ...string) ([]valkey.Reply, error) {
	reply, err := s.node.Run(ctx, script, args...)
	if err != nil {
		return nil, err
	}
	parts, err := reply.ToArray()
	if err == nil && len(parts) < least {
		err = fmt.Errorf("the engine answers %d parts", len(parts))
	}
	return parts, err
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

// parseID is the inverse of ID.String: a tenant has no slash.
func parseID(text string) (id desktop.ID) {
	id.Tenant, id.Name, _ = strings.Cut(text, "/")
	return id
}

var _ desktop.Store = (*store)(nil)
