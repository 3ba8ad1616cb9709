package postgres_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/zap/zaptest"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	postgresactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/postgres"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/activitytest"
	"github.com/gatehouse-proxy/gatehouse/internal/testkit/enginetest"
)

// noon is the time of the records.
var noon = activitytest.Noon

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestALogOfPostgreSQLIsALog(t *testing.T) {
	activitytest.Run(t, func(t *testing.T) activity.Log { return newNode(t, enginetest.Postgres(t), "a").Log })
}

// node is a gateway of a cluster.
type node struct {
	*postgresactivity.Log
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
func newNode(t testing.TB, dsn, name string, change ...func(*postgresactivity.Config)) *node {
	t.Helper()
	db := connect(t, dsn)
	if err := db.Migrate(context.Background(), postgres.WriterSchema, postgresactivity.Schema); err != nil {
		t.Fatal(err)
	}
	n := &node{db: db, writer: postgres.NewWriter(db, name)}
	config := postgresactivity.Config{
		DB: db, Writer: n.writer, Node: name, Now: func() time.Time { return noon }, Keep: activity.Retention{Age: 5 * 24 * time.Hour},
		Logger: zaptest.NewLogger(t), Flush: 10 * time.Second, // this machine may have no time for it
	}
	for _, c := range change {
		c(&config)
	}
	n.Log = postgresactivity.New(config)
	if err := postgresactivity.Maintain(context.Background(), n.Log); err != nil {
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
