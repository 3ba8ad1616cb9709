package valkey

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	engine "github.com/valkey-io/valkey-go"
)

//go:embed inspect.lua
var inspectText string

var inspect = NewScript("inspect", inspectText)

// Server is what a server says of itself. A setting is "" if it does not tell.
type Server struct {
	Address  string `json:"address"` // as the server sees it
	Program  string `json:"program"` // "Redis" or "Valkey"
	Version  string `json:"version"`
	Role     string `json:"role"`     // "master"
	Replicas int    `json:"replicas"` // that are connected
	Cluster  bool   `json:"cluster"`

	Eviction    string `json:"eviction,omitempty"` // maxmemory-policy
	AppendOnly  bool   `json:"append_only"`
	Sync        string `json:"append_fsync,omitempty"`
	MinReplicas string `json:"min_replicas_to_write,omitempty"`
}

// ErrScripts means that scripts may not ask what they need.
var ErrScripts = errors.New("scripts may not call TIME and INFO")

// Inspect asks the server that has a key. It has two seconds.
func (c *Client) Inspect(ctx context.Context, key string) (Server, error) {
	reply, err := c.Run(ctx, inspect, []string{key}, nil)
	if err != nil {
		if errors.Is(err, ErrUnavailable) {
			return Server{}, err
		}
		return Server{}, fmt.Errorf("%w: %w", ErrScripts, err)
	}
	text, err := reply.ToString()
	if err != nil {
		return Server{}, err
	}
	s := readInfo(text)
	client, err := c.connected(ctx)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	err = client.Dedicated(func(connection engine.DedicatedClient) error {
		// The key leads to the server in a cluster.
		if _, _, err := answer(connection.Do(ctx, connection.B().Exists().Key(key).Build())); err != nil {
			return err
		}
		// Managed services refuse CONFIG, old ones CLIENT INFO: then it is not known.
		about, _ := connection.Do(ctx, connection.B().ClientInfo().Build()).ToString()
		for field := range strings.FieldsSeq(about) {
			if address, ok := strings.CutPrefix(field, "laddr="); ok {
				s.Address = address
			}
		}
		settings, _ := connection.Do(ctx, connection.B().ConfigGet().Parameter("appendfsync", "min-replicas-to-write").Build()).AsStrMap()
		s.Sync, s.MinReplicas = settings["appendfsync"], settings["min-replicas-to-write"]
		return nil
	})
	return s, err
}

// readInfo reads the answer to INFO.
func readInfo(text string) Server {
	values := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		values[name] = value
	}
	s := Server{
		Program: "Redis", Version: values["redis_version"], Role: values["role"], Cluster: values["cluster_enabled"] == "1",
		Eviction: values["maxmemory_policy"], AppendOnly: values["aof_enabled"] == "1",
	}
	if version := values["valkey_version"]; version != "" {
		s.Program, s.Version = "Valkey", version
	}
	s.Replicas, _ = strconv.Atoi(values["connected_slaves"])
	return s
}

// leastMajor is the oldest version whose scripts do what ours need. Valkey began with 7.2.
const leastMajor = 7

// Check returns why a cluster cannot use the server, and what its operator should change. hard: there
// are hard budgets, which need that no key is lost.
func (s Server) Check(hard bool) (refusals, warnings []string) {
	major, _, _ := strings.Cut(s.Version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastMajor {
		refusals = append(refusals, fmt.Sprintf("%s %s at %s is too old: use Redis 7.0 or Valkey 7.2, or newer", s.Program, s.Version, s.Address))
	}
	if s.Role != "" && s.Role != "master" {
		refusals = append(refusals, fmt.Sprintf("%s at %s is a %s: give the address of the master, or those of its Sentinels", s.Program, s.Address, s.Role))
	}
	if s.Eviction != "" && s.Eviction != "noeviction" {
		text := fmt.Sprintf("maxmemory-policy of %s at %s is %s, so it may forget what was spent: set it to noeviction", s.Program, s.Address, s.Eviction)
		if hard {
			refusals = append(refusals, text)
		} else {
			warnings = append(warnings, text)
		}
	}
	if !s.AppendOnly {
		warnings = append(warnings, fmt.Sprintf("%s at %s does not append to a file: after a restart the gateways load what was spent "+
			"from PostgreSQL, and open tokens are lost: set appendonly to yes", s.Program, s.Address))
	} else if s.Sync == "no" {
		warnings = append(warnings, fmt.Sprintf("appendfsync of %s at %s is no: a crash loses up to half a minute: set it to everysec", s.Program, s.Address))
	}
	if s.Replicas > 0 && s.MinReplicas == "0" {
		warnings = append(warnings, fmt.Sprintf("%s at %s has replicas, and accepts writes although none follows: set min-replicas-to-write "+
			"to 1 and min-replicas-max-lag to 10", s.Program, s.Address))
	}
	return refusals, warnings
}
