package shared

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/cluster"
	"github.com/gatehouse-proxy/gatehouse/internal/desktop"
)

//go:embed desks.lua
var desksText string

var desksScript = cluster.NewScript("desks", deskText+desksText)

// openSession is a session as desks.lua answers it.
type openSession struct {
	ID    string `json:"id"`
	Node  string `json:"node"`
	Begun string `json:"begun"`
	Ends  string `json:"ends"`
	Info  string `json:"info"`
	Bytes string `json:"bytes"` // "desk up down", or ""
}

func (e *tokens) Desks(ctx context.Context, ids []desktop.ID) (all []desktop.Desk, err error) {
	for first := true; first || len(ids) > 0; first = false {
		n := min(batch, len(ids))
		args := make([]string, n)
		for i, id := range ids[:n] {
			args[i] = id.String()
		}
		ids = ids[n:]
		reply, err := e.node.Run(ctx, desksScript, args...)
		if err != nil {
			return nil, err
		}
		rows, err := reply.ToArray()
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			fields, err := words(row, nil, 3)
			if err != nil {
				return nil, err
			}
			desk, err := e.desk(fields)
			if err != nil {
				return nil, err
			}
			all = append(all, desk)
		}
	}
	return all, nil
}

func (e *tokens) desk(fields []string) (d desktop.Desk, err error) {
	d.ID, _ = parseDesk(fields[0])
	d.Tokens, _ = strconv.Atoi(fields[1])
	var open []openSession
	if err := json.Unmarshal([]byte(fields[2]), &open); err != nil {
		return d, fmt.Errorf("the engine's sessions: %w", err)
	}
	for _, o := range open {
		var info shown
		if err := json.Unmarshal([]byte(o.Info), &info); err != nil {
			return d, fmt.Errorf("the engine's sessions: %w", err)
		}
		view := desktop.SessionView{
			Tenant: d.ID.Tenant, Workstation: d.ID.Name, ID: o.ID, Key: info.Key, User: info.User, TokenID: info.TokenID, Node: nodeName(o.Node),
			Viewer: info.Viewer, Security: info.Security, ViewOnly: info.ViewOnly, Shared: info.Shared,
			Started: e.local(o.Begun), Until: e.local(o.Ends),
		}
		_, _ = fmt.Sscanf(o.Bytes, "%s %d %d", new(string), &view.Up, &view.Down) // none before its first beat
		d.Sessions = append(d.Sessions, view)
	}
	return d, nil
}

// nodeName is the name of a node without its incarnation.
func nodeName(id string) string {
	if i := strings.LastIndexByte(id, '.'); i > 0 {
		return id[:i]
	}
	return id
}
