//go:build unix

package enginetest

import (
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver
)

// PostgresServer is a server of PostgreSQL.
type PostgresServer struct {
	*Engine
	database int
	mu       sync.Mutex
}

// shared is the server of a package's tests: initdb takes seconds.
var shared struct {
	sync.Mutex
	server *PostgresServer
	dir    string
}

// Main runs the tests of a package and ends the server that they share. Call it from TestMain.
func Main(m *testing.M) {
	code := m.Run()
	if shared.server != nil {
		shared.server.Kill()
		os.RemoveAll(shared.dir)
	}
	os.Exit(code)
}

// Postgres returns the address (DSN) of an empty database of the server that the tests of a package
// share. The package needs a TestMain with Main.
func Postgres(t T) (dsn string) {
	t.Helper()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		dir, err := os.MkdirTemp("", "gh-postgres")
		if err != nil {
			t.Fatal(err)
		}
		server, err := newPostgres(t, dir)
		if err != nil {
			os.RemoveAll(dir)
			t.Fatal(err)
		}
		shared.server, shared.dir = server, dir
	}
	return shared.server.Database(t)
}

// StartPostgres starts a server of the test's own, which it may kill.
func StartPostgres(t T) *PostgresServer {
	t.Helper()
	server, err := newPostgres(t, tempDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	return server
}

// postgresPrograms are where Debian has them: not in PATH.
const postgresPrograms = "/usr/lib/postgresql/*/bin/"

func postgresProgram(t T, name string) string {
	t.Helper()
	if found, _ := filepath.Glob(postgresPrograms + name); len(found) > 0 {
		return found[len(found)-1]
	}
	return Program(t, name)
}

func newPostgres(t T, dir string) (*PostgresServer, error) {
	t.Helper()
	initdb, postgres := postgresProgram(t, "initdb"), postgresProgram(t, "postgres")
	if err := os.Chmod(dir, 0o755); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, err
	}
	as, err := postgresUser(data)
	if err != nil {
		return nil, err
	}
	run := exec.Command(initdb, "-D", data, "-U", "gatehouse", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")
	run.SysProcAttr, run.Dir = as(), "/"
	if text, err := run.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, text)
	}
	port := strconv.Itoa(freePort(t))
	s := &PostgresServer{Engine: &Engine{
		Addr: "127.0.0.1:" + port, Dir: data, Log: filepath.Join(dir, "log"),
		command: func() *exec.Cmd {
			// Without fsync data survives the end of the process, not that of the machine: enough for a test.
			cmd := exec.Command(postgres, "-D", data, "-c", "fsync=off", "-h", "127.0.0.1", "-p", port, "-k", "", "-c", "shared_buffers=32MB", "-c", "max_connections=100")
			cmd.SysProcAttr, cmd.Dir = as(), "/"
			return cmd
		},
	}}
	return s, s.Restart()
}

// postgresUser returns how to run a program as the user that owns the data: the server refuses root.
func postgresUser(data string) (func() *syscall.SysProcAttr, error) {
	if os.Geteuid() != 0 {
		return func() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	return func() *syscall.SysProcAttr {
		return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	}, os.Chown(data, uid, gid)
}

// Kill ends the server as a power failure would: the process of each connection, too, which would live
// on for a moment and do what it is asked.
func (s *PostgresServer) Kill() {
	var children []int
	if s.process != nil {
		pid := strconv.Itoa(s.process.Process.Pid)
		text, _ := os.ReadFile("/proc/" + pid + "/task/" + pid + "/children")
		for _, field := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(field)
			children = append(children, child)
		}
	}
	s.Engine.Kill()
	for _, child := range children {
		_ = syscall.Kill(child, syscall.SIGKILL)
	}
}

// Restart starts a server that Kill or Stop has ended. It returns when the server answers. The process
// of a connection that Kill has not seen lives on for a moment, and the server waits for none.
func (s *PostgresServer) Restart() error {
	for deadline := time.Now().Add(startTimeout); ; <-time.After(100 * time.Millisecond) {
		err := s.start(func() error { return ping(s.dsn("postgres")) })
		if err == nil || !strings.Contains(err.Error(), "pre-existing shared memory block") || time.Now().After(deadline) {
			return err
		}
	}
}

func ping(dsn string) error {
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	return db.Ping()
}

// Database makes an empty database and returns its address.
func (s *PostgresServer) Database(t T) (dsn string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.database++
	name := "t" + strconv.Itoa(s.database)
	db, err := sql.Open("pgx", s.dsn("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(t.Context(), "CREATE DATABASE "+name); err != nil {
		t.Fatal(err)
	}
	return s.dsn(name)
}

func (s *PostgresServer) dsn(database string) string {
	return "postgres://gatehouse@" + s.Addr + "/" + database + "?sslmode=disable"
}
