package valkey

import (
	"context"
	_ "embed"
	"encoding/json"

	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

var (
	//go:embed note.lua
	noteText string
	//go:embed held.lua
	heldText string

	noteScript   = newScript("desktop note", noteText)
	heldScript   = newScript("desktop held", heldText)
	forgetScript = newScript("desktop forget", "return redis.call('DEL', T .. ARGV[4], T .. ARGV[5])")
)

// note stores what the sessions of this gateway have carried, and returns those that the engine has.
func (s *store) note(ctx context.Context, traffic map[string][2]int64) (map[string]desktop.ID, error) {
	text, err := json.Marshal(traffic)
	if err != nil {
		return nil, err
	}
	node := s.node.ID()
	return sessionsOf(s.node.Run(ctx, noteScript, noteKeys+node, string(text), nodeKeys+node))
}

// held returns the sessions of a node that is dead.
func (s *store) held(ctx context.Context, node string) (map[string]desktop.ID, error) {
	return sessionsOf(s.node.Run(ctx, heldScript, node, nodeKeys+node))
}

// forget takes out what is left of a node whose sessions are out.
func (s *store) forget(ctx context.Context, node string) error {
	_, err := s.node.Run(ctx, forgetScript, nodeKeys+node, noteKeys+node)
	return err
}

// ping returns an error unless the engine answers.
func (s *store) ping(ctx context.Context) error {
	_, err := s.node.Run(ctx, getScript)
	return err
}

// sessionsOf reads pairs of a session and its workstation.
func sessionsOf(reply valkey.Reply, err error) (map[string]desktop.ID, error) {
	if err != nil {
		return nil, err
	}
	words, err := reply.AsStrMap()
	sessions := make(map[string]desktop.ID, len(words))
	for session, name := range words {
		sessions[session] = parseID(name)
	}
	return sessions, err
}
