package soak

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

const (
	// soakStoreFault is how many reloads it is from one fault of the database to the next.
	soakStoreFault = 5
	// soakStoreBack is how long calls may still be refused after the file has come back.
	soakStoreBack = 2 * time.Second
	// soakStoreTime is how long a fault lasts: longer than a commit interval, shorter than what makes
	// SQLite give up.
	soakStoreTime = 1500 * time.Millisecond
)

// breakStore lets the database fail for a while at some reloads: by turns another process has
// locked it, and its file is moved away and back. Calls go on meanwhile.
func (s *soak) breakStore() {
	s.t.Helper()
	s.storeTurns++
	switch s.storeTurns % (2 * soakStoreFault) {
	case soakStoreFault - 1:
		s.lockStore()
	case 2*soakStoreFault - 1:
		s.moveStore()
	default:
		return
	}
	s.storeFaults++
}

func (s *soak) storePath() string { return filepath.Join(s.h.Dir, "data", store.FileName) }

func (s *soak) lockStore() {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+s.storePath())
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		s.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(context.Background(), "PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE"); err != nil {
		s.t.Fatal(err)
	}
	<-time.After(soakStoreTime)
	if _, err := conn.ExecContext(context.Background(), "ROLLBACK"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *soak) moveStore() {
	s.t.Helper()
	away := s.storePath() + ".away"
	s.storeAway = append(s.storeAway, time.Now())
	if err := os.Rename(s.storePath(), away); err != nil {
		s.t.Fatal(err)
	}
	<-time.After(soakStoreTime)
	if err := os.Rename(away, s.storePath()); err != nil {
		s.t.Fatal(err)
	}
}

// refusedByStore reports whether a record is of a call under a budget that came while the file of
// the database was away.
func (s *soak) refusedByStore(row *activity.Record) bool {
	return row.Code == string(apierror.LedgerUnavailable) && slices.ContainsFunc(s.storeAway, func(from time.Time) bool {
		ended := row.CreatedAt.Add(row.Latency)
		return ended.After(from) && ended.Before(from.Add(soakStoreTime+soakStoreBack))
	})
}
