package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/store"
)

var noon = time.Date(2026, 3, 18, 12, 0, 0, 0, time.UTC) // a Wednesday

// newLog returns a log with these records, the oldest first, and its store.
func newLog(t *testing.T, records ...activity.Record) (*sqliteactivity.Log, *store.Store) {
	t.Helper()
	st, err := store.Open(t.TempDir(), store.Options{Schemas: []store.Schema{sqliteactivity.Schema}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	log := sqliteactivity.New(st)
	for _, r := range records {
		log.Append(&r)
	}
	return log, st
}

// wantJSON compares an answer with JSON that may be broken into lines.
func wantJSON(t *testing.T, got []byte, want string) {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(want)); err != nil {
		t.Fatal(err)
	}
	if string(got) != compact.String() {
		t.Errorf("got\n%s\nwant\n%s", got, compact.String())
	}
}

func wantRefusal(t *testing.T, err error, code apierror.Code, param, message string) {
	t.Helper()
	var e *apierror.Error
	if !errors.As(err, &e) || e.Code != code || e.Param != param || !strings.Contains(e.Message, message) {
		t.Errorf("got %v, want %s of %q with %q", err, code, param, message)
	}
}
