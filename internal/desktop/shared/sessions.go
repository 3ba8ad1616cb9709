package shared

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

var (
	//go:embed join.lua
	joinText string
	//go:embed leave.lua
	leaveText string
	//go:embed end.lua
	endText string
	//go:embed release.lua
	releaseText string
	//go:embed reopen.lua
	reopenText string
	//go:embed restate.lua
	restateText string
	//go:embed attend.lua
	attendText string
	//go:embed reap.lua
	reapText string

	joinScript    = cluster.NewScript("desk join", deskText+joinText)
	leaveScript   = cluster.NewScript("desk leave", deskText+leaveText)
	endScript     = cluster.NewScript("desk end", deskText+endText)
	releaseScript = cluster.NewScript("desk release", deskText+releaseText)
	reopenScript  = cluster.NewScript("desk reopen", deskText+reopenText)
	restateScript = cluster.NewScript("desk restate", deskText+restateText)
	attendScript  = cluster.NewScript("desk attend", deskText+attendText)
	reapScript    = cluster.NewScript("desk reap", deskText+reapText)
)

// batch is how many sessions or desks one message is about: the engine does nothing else meanwhile.
const batch = 256

// shown is what lists show of a session, as JSON in the engine.
type shown struct {
	Key      string         `json:"k"`
	TokenID  string         `json:"t"`
	Viewer   netip.AddrPort `json:"a"`
	Security string         `json:"s"`
	ViewOnly bool           `json:"v,omitempty"`
	Shared   bool           `json:"h,omitempty"`
	User     string         `json:"u,omitempty"`
}

func encodeShown(x *desktop.SharedSession) (string, error) {
	text, err := json.Marshal(shown{x.Key, x.TokenID, x.Viewer, x.Security, x.ViewOnly, x.Shared, x.User})
	return string(text), err
}

func (e *tokens) Join(ctx context.Context, x *desktop.SharedSession, terms desktop.Terms) (j desktop.Joined, err error) {
	info, err := encodeShown(x)
	if err != nil {
		return j, err
	}
	reply, err := e.heal(ctx, joinScript, x.ID, x.Token.Hash, info, rules[terms.Rule], strconv.Itoa(terms.MaxSessions), address(terms.Client),
		flag(terms.Pin), strconv.FormatInt(terms.Generation, 10), flag(x.Shared), micros(x.Reconnect))
	answer, err := words(reply, err, 1)
	if err != nil {
		return j, err
	}
	if j.Code = desktop.RefusalCode(answer[0]); j.Code != "" || len(answer) < 3 {
		return j, nil
	}
	j.Started, j.Until = e.local(answer[1]), e.local(answer[2])
	var elsewhere []string
	j.Replaced, elsewhere = e.split(answer[3:])
	e.tell(ctx, ended{x.Token.Workstation, desktop.ReasonReplaced, x.Key, elsewhere})
	return j, nil
}

// split returns the sessions of pairs "session node", and those of other nodes.
func (e *tokens) split(pairs []string) (all, elsewhere []string) {
	own := e.node.ID()
	for _, pair := range pairs {
		id, node, _ := strings.Cut(pair, " ")
		all = append(all, id)
		if node != own {
			elsewhere = append(elsewhere, id)
		}
	}
	return all, elsewhere
}

// tell tells the other nodes of sessions that have ended.
func (e *tokens) tell(ctx context.Context, what ended) {
	if len(what.sessions) > 0 {
		_ = e.node.Publish(ctx, eventEnded, what.String()) // their next beat has it
	}
}

func (e *tokens) Restate(ctx context.Context, t *desktop.SharedToken, x *desktop.SharedSession, rule desktop.Conflict) (desktop.Reason, error) {
	args := []string{t.Hash, t.Workstation.String(), owner(t.Issuer.Tenant, t.Issuer.Key), encodeIssuer(t.Issuer), flags(t),
		strconv.FormatInt(t.Issued, 10), e.remote(t.Until), e.remote(t.Deadline), address(t.Client), strconv.FormatInt(t.Generation, 10), t.Prefix}
	if x == nil {
		args = append(args, "")
	} else {
		info, err := encodeShown(x)
		if err != nil {
			return "", err
		}
		args = append(args, x.ID, info, rules[rule], flag(x.Shared), address(x.Viewer.Addr()), micros(x.Reconnect), e.remote(x.Started))
	}
	reply, err := e.node.Run(ctx, restateScript, args...)
	if err != nil {
		return "", err
	}
	why, err := reply.ToString()
	return desktop.Reason(why), err
}

func (e *tokens) Leave(ctx context.Context, sessions ...string) error {
	for len(sessions) > 0 {
		n := min(batch, len(sessions))
		if _, err := e.node.Run(ctx, leaveScript, sessions[:n]...); err != nil {
			return err
		}
		sessions = sessions[n:]
	}
	return nil
}

func (e *tokens) End(ctx context.Context, id desktop.ID, session, key string) (bool, error) {
	reply, err := e.node.Run(ctx, endScript, id.String(), session)
	if err != nil {
		return false, err
	}
	n, err := reply.AsInt64()
	if err != nil || n == 0 {
		return false, err
	}
	e.tell(ctx, ended{id, desktop.ReasonEnded, key, []string{session}})
	return true, nil
}

func (e *tokens) Release(ctx context.Context, id desktop.ID, generation int64, key string) (elsewhere int, err error) {
	reply, err := e.node.Run(ctx, releaseScript, id.String(), strconv.FormatInt(generation, 10))
	pairs, err := words(reply, err, 0)
	if err != nil {
		return 0, err
	}
	_, others := e.split(pairs)
	e.tell(ctx, ended{id, desktop.ReasonReleased, key, others})
	return len(others), nil
}

func (e *tokens) Reopen(ctx context.Context, id desktop.ID) error {
	_, err := e.node.Run(ctx, reopenScript, id.String())
	return err
}

func (e *tokens) Attend(ctx context.Context, sessions []*desktop.SharedSession) (a desktop.Attendance, err error) {
	a.Ended = make(map[string]desktop.Reason)
	for first := true; first || len(sessions) > 0; first = false {
		n := min(batch, len(sessions))
		if err := e.attend(ctx, sessions[:n], &a); err != nil {
			return a, err
		}
		sessions = sessions[n:]
	}
	return a, nil
}

// attend is Attend for some of the sessions; each answer has all that are held.
func (e *tokens) attend(ctx context.Context, sessions []*desktop.SharedSession, a *desktop.Attendance) error {
	var keys, states []string
	seen := make(map[string]bool)
	for _, x := range sessions {
		if by := owner(x.Token.Issuer.Tenant, x.Token.Issuer.Key); !seen[by] {
			seen[by] = true
			keys = append(keys, by)
		}
		states = append(states, x.ID, strconv.FormatInt(x.Up, 10), strconv.FormatInt(x.Down, 10))
	}
	reply, err := e.node.Run(ctx, attendScript, append(append([]string{strconv.Itoa(len(keys))}, keys...), states...)...)
	if err != nil {
		return err
	}
	parts, err := reply.ToArray()
	if err != nil || len(parts) != 3 {
		return fmt.Errorf("the engine's sessions: %d parts, %w", len(parts), err)
	}
	held, err1 := words(parts[0], nil, 0)
	over, err2 := words(parts[1], nil, 0)
	marks, err3 := words(parts[2], nil, 0)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			return err
		}
	}
	a.Held = held
	for i := 0; i+1 < len(over); i += 2 {
		a.Ended[over[i]] = desktop.Reason(over[i+1])
	}
	for i := 0; i+2 < len(marks); i += 3 {
		if r, ok := e.revocation(marks[i], marks[i+1], marks[i+2]); ok {
			a.Revoked = append(a.Revoked, r)
		}
	}
	return nil
}

// reap takes out the sessions of a node that is dead. Their tokens can be used again for a while.
func (e *tokens) reap(ctx context.Context, dead string) error {
	for {
		reply, err := e.node.Run(ctx, reapScript, dead, strconv.Itoa(batch))
		if err != nil {
			return err
		}
		if left, err := reply.AsInt64(); err != nil || left == 0 {
			return err
		}
	}
}

var _ desktop.Engine = (*tokens)(nil)
