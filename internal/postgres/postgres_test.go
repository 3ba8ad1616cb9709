package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func open(t *testing.T) *postgres.DB {
	t.Helper()
	return connect(t, enginetest.Postgres(t))
}

func TestALayoutOfANewerProgramIsRefused(t *testing.T) {
	db := open(t)
	schema := postgres.Schema{Name: "things", Steps: []string{"CREATE TABLE thing (n int)", "ALTER TABLE thing ADD m int"}}
	for range 2 {
		if err := db.Migrate(t.Context(), schema); err != nil {
			t.Fatal(err)
		}
	}
	schema.Steps = schema.Steps[:1]
	if db.Migrate(t.Context(), schema) == nil {
		t.Error("an older program uses a newer layout")
	}
}

func TestErrorsSayNothingOfTheAddress(t *testing.T) {
	for _, dsn := range []string{"postgres://gw:secret@127.0.0.1:1/vault", "postgres://gw:secret@127.0.0.1:port/vault"} {
		db, err := postgres.Open(dsn)
		if err == nil {
			err = db.Migrate(t.Context(), postgres.WriterSchema)
			if !errors.Is(err, postgres.ErrUnavailable) {
				t.Errorf("%v", err)
			}
			db.Close()
		}
		for _, secret := range []string{"secret", "gw", "vault"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%v", err)
			}
		}
	}
}

// A password is asked for at each connection: it may have been changed.
func TestThePasswordIsAskedForAtEachConnection(t *testing.T) {
	asked := 0
	db, err := postgres.OpenWith(enginetest.Postgres(t), func() (string, error) {
		if asked++; asked == 3 {
			return "", errors.New("the file of the password is gone")
		}
		return "secret", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for n := 1; n <= 3; n++ {
		db.Pool().Reset()
		if err := db.Pool().Ping(t.Context()); (err != nil) != (n == 3) || asked != n {
			t.Errorf("connection %d: asked %d times, %v", n, asked, err)
		}
	}
}

func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", what, err)
		}
		<-time.After(20 * time.Millisecond)
	}
}
