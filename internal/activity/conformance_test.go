package activity_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

func TestSQLiteLogIsALog(t *testing.T) {
	activitytest.Run(t, func(t *testing.T) activity.Log {
		_, log := open(t, store.Options{})
		return log
	})
}

func TestPostgresLogIsALog(t *testing.T) {
	activitytest.Run(t, func(t *testing.T) activity.Log { return newNode(t, enginetest.Postgres(t), "a").PostgresLog })
}

// node is a gateway of a cluster.
type node struct {
	*activity.PostgresLog
	db     *postgres.DB
	writer *postgres.Writer
}

func connect(t testing.TB, dsn string) *postgres.DB {
	t.Helper()
	db, err := postgres.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return db
}

// newNode returns a gateway whose clock stands at noon of the tests, or what change makes of it.
func newNode(t testing.TB, dsn, name string, change ...func(*activity.PostgresConfig)) *node {
	t.Helper()
	db := connect(t, dsn)
	if err := db.Migrate(context.Background(), postgres.WriterSchema, activity.PostgresSchema); err != nil {
		t.Fatal(err)
	}
	n := &node{db: db, writer: postgres.NewWriter(db, name)}
	config := activity.PostgresConfig{
		DB: db, Writer: n.writer, Node: name, Now: func() time.Time { return noon }, Keep: activity.Retention{Age: 5 * 24 * time.Hour},
		Logger: zaptest.NewLogger(t),
	}
	for _, c := range change {
		c(&config)
	}
	n.PostgresLog = activity.NewPostgresLog(config)
	n.Patient()
	if err := n.Maintain(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := n.writer.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.writer.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n
}
