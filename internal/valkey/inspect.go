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

	Eviction      string `json:"eviction,omitempty"` // maxmemory-policy
	AppendOnly    bool   `json:"append_only"`
	Sync          string `json:"append_fsync,omitempty"`
	NeedsReplicas bool   `json:"needs_replicas"` // it refuses writes which no replica follows
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
		settings, _ := connection.Do(ctx, connection.B().ConfigGet().Parameter("appendfsync").Build()).AsStrMap()
		s.Sync = settings["appendfsync"]
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
	_, s.NeedsReplicas = values["min_slaves_good_slaves"] // told only where it counts
	return s
}

// leastMajor is the oldest version whose scripts do what ours need. Valkey began with 7.2.
const leastMajor = 7

// Finding is something about a server that its operator should change.
type Finding struct {
	Refused bool   // a cluster cannot use the server as it is
	Problem string // a clause
	Advice  string // a sentence
}

func (f Finding) String() string { return f.Problem + ". " + f.Advice }

// Check judges the server. Hard: a budget must not be exceeded, which needs that no key is lost.
func (s Server) Check(hard bool) []Finding {
	var found []Finding
	add := func(refused bool, advice, problem string, args ...any) {
		found = append(found, Finding{refused, fmt.Sprintf("%s at %s ", s.Program, s.Address) + fmt.Sprintf(problem, args...), advice})
	}
	major, _, _ := strings.Cut(s.Version, ".")
	if n, err := strconv.Atoi(major); err != nil || n < leastMajor {
		add(true, "Use Redis 7.0 or Valkey 7.2, or newer.", "has the version %q, which is too old", s.Version)
	}
	if s.Role != "" && s.Role != "master" {
		add(true, "Name the master, or the Sentinels with the option sentinel.", "is a replica, which takes no writes")
	}
	if s.Eviction != "" && s.Eviction != "noeviction" {
		add(hard, "Set maxmemory-policy noeviction.", "has maxmemory-policy %s: with full memory it forgets what was spent, and sessions", s.Eviction)
	}
	if !s.AppendOnly {
		add(false, "Set appendonly yes, appendfsync everysec.",
			"does not append to a file: after a restart hard budgets wait until what was spent is loaded from PostgreSQL, and addresses of desktops are lost")
	} else if s.Sync == "no" {
		add(false, "Set appendfsync everysec.", "has appendfsync no: a crash loses up to half a minute")
	}
	if s.Replicas > 0 && !s.NeedsReplicas {
		add(false, "Set min-replicas-to-write 1, min-replicas-max-lag 10.", "takes writes although no replica follows: a master that was cut off goes on")
	}
	return found
}
