//go:build unix

package enginetest_test

import (
	"database/sql"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestAServerStartsAgainWithItsData(t *testing.T) {
	server := enginetest.StartPostgres(t)
	dsn := server.Database(t)
	exec := func(query string) error {
		db, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		_, err = db.ExecContext(t.Context(), query)
		return err
	}
	if err := exec("CREATE TABLE kept (n int)"); err != nil {
		t.Fatal(err)
	}
	server.Kill()
	if exec("SELECT n FROM kept") == nil {
		t.Error("a killed server answers")
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	if err := exec("SELECT n FROM kept"); err != nil {
		t.Error(err)
	}
}

func TestDatabasesOfASharedServerAreEmpty(t *testing.T) {
	for range 2 {
		db, err := sql.Open("pgx", enginetest.Postgres(t))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), "CREATE TABLE t (n int)"); err != nil {
			t.Error(err)
		}
	}
}

func TestARedisServerAnswersUntilItIsKilled(t *testing.T) {
	e := enginetest.Redis(t)
	e.Kill()
	e.MustStart(t)
}
