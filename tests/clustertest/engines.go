//go:build unix

package clustertest

import (
	"cmp"
	"os"
	"os/exec"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// Engines are what gateways share.
type Engines struct {
	Redis    *enginetest.Engine
	Postgres *enginetest.PostgresServer

	// Valkey are the lines of the cluster block that lead to the engine, and DSN to the database.
	Valkey, DSN string
	// Paths are other lines that lead to the engine, of single gateways by name.
	Paths map[string]string
}

// StartEngines starts a Redis or Valkey server and PostgreSQL. settings are those of the first.
func StartEngines(t T, settings ...string) *Engines {
	t.Helper()
	return NewEngines(t, enginetest.Redis(t, settings...))
}

// NewEngines adds PostgreSQL to a server of Redis or Valkey.
func NewEngines(t T, redis *enginetest.Engine) *Engines {
	t.Helper()
	e := &Engines{Redis: redis, Postgres: enginetest.StartPostgres(t)}
	e.Valkey, e.DSN = "valkey valkey://"+redis.Addr, e.Postgres.Database(t)
	return e
}

// Block is the cluster block of a gateway, empty without engines.
func (e *Engines) Block(node string) string {
	if e == nil {
		return ""
	}
	path := cmp.Or(e.Paths[node], e.Valkey)
	return "cluster prod {\n" + path + "\npostgres " + e.DSN + "\nnode " + node + "\n}"
}

// EnginePrograms are the programs of engines that are installed, with the one that ENGINE names if
// it names one.
func EnginePrograms() (programs []string) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if wanted := os.Getenv("ENGINE"); wanted != "" && wanted+"-server" != name {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			programs = append(programs, path)
		}
	}
	return programs
}
