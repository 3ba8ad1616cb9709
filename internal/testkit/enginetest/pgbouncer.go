//go:build unix

package enginetest

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
)

// PgBouncer puts a PgBouncer in transaction mode, with few connections, in front of a database, and
// returns the address there.
func PgBouncer(t testing.TB, dsn string) string {
	t.Helper()
	program := Program(t, "pgbouncer")
	at, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	dir, port := tempDir(t), strconv.Itoa(freePort(t))
	config := filepath.Join(dir, "pgbouncer.ini")
	err = os.WriteFile(config, fmt.Appendf(nil, `[databases]
* = host=%s port=%s user=gatehouse
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
`, at.Hostname(), at.Port(), port), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	e := &Engine{Addr: "127.0.0.1:" + port, Dir: dir, Log: filepath.Join(dir, "log")}
	as, err := postgresUser(dir) // it refuses root too
	if err != nil {
		t.Fatal(err)
	}
	e.command = func() *exec.Cmd {
		cmd := exec.Command(program, config)
		cmd.SysProcAttr, cmd.Dir = as(), "/"
		return cmd
	}
	t.Cleanup(e.Kill)
	at.Host = e.Addr
	if err := e.start(func() error { return ping(at.String()) }); err != nil {
		t.Fatal(err)
	}
	return at.String()
}
