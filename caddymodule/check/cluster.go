package check

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/gatehouse-proxy/gatehouse/caddymodule/offline"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/terminal"
	"github.com/gatehouse-proxy/gatehouse/internal/valkey"
)

// dialCluster tries the engines of the cluster and looks at their settings.
func dialCluster(c *inspected) []Finding {
	if offline.Cluster(c.Config) == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), dialTimeout)
	defer cancel()
	found := dialEngine(ctx, c)
	return append(found, dialDatabase(ctx, c))
}

// checkEngineTLS warns of connections to the engines that others on the way can read or change.
func checkEngineTLS(c *inspected) (found []Finding) {
	cluster := offline.Cluster(c.Config)
	if cluster == nil {
		return nil
	}
	warn := func(engine, host, advice string) {
		found = append(found, Finding{Warning, "cluster " + cluster.Name + ": " + engine,
			fmt.Sprintf("connections to %s may be without TLS: who reads them has the password, and whoever can write there is any key", host), advice})
	}
	if cluster.Engine.TLS == nil {
		away := slices.IndexFunc(cluster.Engine.Addresses, func(address string) bool { host, _, _ := net.SplitHostPort(address); return !onThisMachine(host) })
		if away >= 0 {
			warn("Valkey", cluster.Engine.Addresses[away], "Write valkeys:// and give Valkey a certificate.")
		}
	}
	address, _ := postgres.ParseAddress(cluster.Database) // it was checked
	away := slices.IndexFunc(address.Plain, func(host string) bool { return !strings.HasPrefix(host, "/") && !onThisMachine(host) })
	if away >= 0 {
		warn("PostgreSQL", address.Plain[away], "Add sslmode=verify-full to the address, or sslmode=require.")
	}
	return found
}

func dialDatabase(ctx context.Context, c *inspected) Finding {
	subject := "cluster " + offline.Cluster(c.Config).Name + ": PostgreSQL"
	failed := func(err error) Finding {
		return Finding{Failure, subject, "it cannot be reached: " + c.Hide(postgres.Explain(err).Error()), "Check the address, the login, pg_hba.conf and the network."}
	}
	db, err := postgres.Open(offline.Cluster(c.Config).Database)
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
		return Finding{Failure, subject, text, "Use PostgreSQL 15 or newer."}
	case standby:
		return Finding{Failure, subject, text + "; it is a standby", "Name the primary, or several hosts with target_session_attrs=read-write."}
	case !creates:
		return Finding{Failure, subject, text + "; the user may not make tables", "GRANT CREATE, USAGE ON SCHEMA public TO the user."}
	}
	return Finding{Note, subject, text, ""}
}

// oldestPostgres is the oldest version that is tested, as server_version_num.
const oldestPostgres = 150_000

// dialEngine looks at the settings of Valkey or Redis, as a gateway does when it starts.
func dialEngine(ctx context.Context, c *inspected) []Finding {
	subject := "cluster " + offline.Cluster(c.Config).Name + ": Valkey"
	client := valkey.New(offline.Cluster(c.Config).Engine)
	defer client.Close()
	// The key leads to the shard that has the keys of the cluster.
	server, err := client.Inspect(ctx, "{gh:"+offline.Cluster(c.Config).Name+"}")
	switch {
	case errors.Is(err, valkey.ErrUnavailable):
		return []Finding{{Failure, subject, "it cannot be reached: " + c.Hide(err.Error()), "Check the address, the login and the network."}}
	case err != nil:
		return []Finding{{Failure, subject, c.Hide(err.Error()), "Give the user the rights of docs/cluster.md."}}
	}
	return engineFindings(subject, server, c.hardBudget())
}

// engineFindings says what a server is and what is wrong with it. Hard reports whether a budget is hard.
func engineFindings(subject string, s valkey.Server, hard bool) []Finding {
	found := []Finding{{Note, subject, fmt.Sprintf("%s %s answers at %s; its role is %s, maxmemory-policy %s", s.Program, s.Version, s.Address, s.Role, terminal.OrDash(s.Eviction)), ""}}
	for _, f := range s.Check(hard) {
		severity := Warning
		if f.Refused {
			severity = Failure
		}
		found = append(found, Finding{severity, subject, f.Problem, f.Advice})
	}
	if s.Replicas == 0 && s.Role == "master" {
		found = append(found, Finding{Note, subject, "it has no replica: while it is away, calls under a hard budget are refused", "Add a replica and Sentinels if that must not be."})
	}
	return found
}

// hardBudget reports whether any budget of the configuration is hard.
func (c *inspected) hardBudget() bool {
	return c.Built.Limits.Hard() || c.MakesKeys() // such a key may have one
}
