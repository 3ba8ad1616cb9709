package caddymodule

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// dialCluster tries the engines of the cluster and looks at their settings.
func dialCluster(c *inspected) []finding {
	if c.built.Cluster == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	found := dialEngine(ctx, c)
	return append(found, dialDatabase(ctx, c))
}

// hide takes the secrets of the configuration out of a text.
func (c *inspected) hide(text string) string {
	for _, secret := range c.built.Secrets {
		text = strings.ReplaceAll(text, secret, "[redacted]")
	}
	return text
}

func dialDatabase(ctx context.Context, c *inspected) finding {
	subject := "cluster " + c.built.Cluster.Name + ": PostgreSQL"
	failed := func(err error) finding {
		return finding{failure, subject, "it cannot be reached: " + c.hide(postgres.Explain(err).Error()), "Check the address, the login, pg_hba.conf and the network."}
	}
	db, err := postgres.Open(c.built.Cluster.Database)
	if err != nil {
		return failed(err)
	}
	defer db.Close()
	var version, most string
	var standby, creates bool
	err = db.Pool().QueryRow(ctx, `SELECT current_setting('server_version_num'), current_setting('max_connections'), pg_is_in_recovery(),
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)`).Scan(&version, &most, &standby, &creates)
	if err != nil {
		return failed(err)
	}
	number, _ := strconv.Atoi(version)
	text := fmt.Sprintf("PostgreSQL %d.%d answers; max_connections is %s, and each gateway needs 9", number/10_000, number%10_000, most)
	switch {
	case number < oldestPostgres:
		return finding{failure, subject, text, "Use PostgreSQL 15 or newer."}
	case standby:
		return finding{failure, subject, text + "; it is a standby", "Name the primary, or several hosts with target_session_attrs=read-write."}
	case !creates:
		return finding{failure, subject, text + "; the user may not make tables", "GRANT CREATE, USAGE ON SCHEMA public TO the user."}
	}
	return finding{note, subject, text, ""}
}

// oldestPostgres is the oldest version that is tested, as server_version_num.
const oldestPostgres = 150_000

// oldestEngine is the oldest version of Redis whose scripts do what ours need.
const oldestEngine = 7

// dialEngine looks at the settings of Valkey or Redis.
func dialEngine(ctx context.Context, c *inspected) []finding {
	subject := "cluster " + c.built.Cluster.Name + ": Valkey"
	client := valkey.New(c.built.Cluster.Engine)
	defer client.Close()
	ask := func(command string, args ...string) (string, error) {
		// The key says which shard is asked: the one that has the keys of the cluster.
		key := "{gh:" + c.built.Cluster.Name + "}"
		reply, err := client.Run(ctx, valkey.NewScript("check", "return redis.call(unpack(ARGV))"), []string{key}, append([]string{command}, args...))
		if err != nil {
			return "", err
		}
		return reply.ToString()
	}
	info, err := ask("INFO", "everything")
	if err != nil {
		advice := "Check the address, the login and its rights (scripts, INFO, TIME), and the network."
		if !errors.Is(err, valkey.ErrUnavailable) {
			return []finding{{failure, subject, "it refuses what the gateways need: " + c.hide(err.Error()), advice}}
		}
		return []finding{{failure, subject, "it cannot be reached: " + c.hide(err.Error()), advice}}
	}
	values := map[string]string{}
	for line := range strings.Lines(info) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			values[name] = value
		}
	}
	return judgeEngine(subject, values, c.hardBudget())
}

// judgeEngine judges the answer to INFO. Hard reports whether a budget is hard.
func judgeEngine(subject string, values map[string]string, hard bool) []finding {
	name, version := "Redis", values["redis_version"]
	if values["valkey_version"] != "" {
		name, version = "Valkey", values["valkey_version"]
	}
	first, _, _ := strings.Cut(values["redis_version"], ".")
	major, err := strconv.Atoi(first)
	found := []finding{{note, subject, fmt.Sprintf("%s %s answers, %s of a %s", name, version, values["role"], orDash(values["redis_mode"])), ""}}
	if err != nil || major < oldestEngine {
		found = append(found, finding{failure, subject, name + " " + version + " is too old", "Use Redis 7.0 or newer, or Valkey."})
	}
	if values["role"] == "slave" {
		found = append(found, finding{failure, subject, "it is a replica, which takes no writes", "Name the master, or the Sentinels with the option sentinel."})
	}
	if policy := values["maxmemory_policy"]; policy != "noeviction" {
		f := finding{warning, subject, "maxmemory-policy is " + policy + ": full memory throws limits and sessions away", "Set maxmemory-policy noeviction."}
		if hard {
			f.Severity = failure
		}
		found = append(found, f)
	} else {
		found[0].Problem += "; maxmemory-policy is noeviction"
	}
	if values["aof_enabled"] != "1" {
		found = append(found, finding{warning, subject, "appendonly is off: after a restart it has lost what is spent, and all gateways wait for PostgreSQL", "Set appendonly yes, appendfsync everysec."})
	}
	if replicas := values["connected_slaves"]; replicas == "0" {
		found = append(found, finding{note, subject, "it has no replica: while it is away, calls under a hard budget are refused", "Add a replica and Sentinels if that must not be."})
	} else if values["min_slaves_good_slaves"] == "" {
		found = append(found, finding{warning, subject, "min-replicas-to-write is 0: a master that was cut off goes on", "Set min-replicas-to-write 1, min-replicas-max-lag 10."})
	}
	return found
}

// hardBudget reports whether any budget of the configuration is hard.
func (c *inspected) hardBudget() bool {
	return c.built.Limits.Hard() || c.built.RuntimeKeys != nil // such a key may have one
}
