package report

import (
	"net/http"
	"testing"
	"time"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
	sqliteactivity "github.com/gatehouse-proxy/gatehouse/internal/activity/sqlite"
	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
)

// blockedLog is a log whose commits are blocked since noon.
type blockedLog struct{ *sqliteactivity.Log }

func (blockedLog) BlockedSince() time.Time { return noon }

func TestAnAnswerSaysUntilWhenItHasCalls(t *testing.T) {
	log, _ := newLog(t, fullCall)
	h := http.Header{}
	SetUntil(h, log)
	if len(h) != 0 || activity.Missing(h.Get(activity.UntilHeader), noon) != "" {
		t.Errorf("with commits: %v", h)
	}
	SetUntil(h, blockedLog{log})
	const want = "Calls that ended since 2026-03-18T12:00:00.000Z may be missing: commits have been blocked for 1m5s."
	if got := activity.Missing(h.Get(activity.UntilHeader), noon.Add(65*time.Second)); got != want {
		t.Errorf("%v: %s", h, got)
	}
}

// That it is not there would be wrong: it may wait for its commit.
func TestWhatIsNotFoundWhileCommitsAreBlockedMayComeYet(t *testing.T) {
	log, _ := newLog(t, fullCall)
	_, err := Generation(t.Context(), log, "acme", "gen-later")
	wantRefusal(t, err, apierror.NotFound, "id", "no generation")
	_, err = Generation(t.Context(), blockedLog{log}, "acme", "gen-later")
	wantRefusal(t, err, apierror.LedgerUnavailable, "", "2026-03-18T12:00:00.000Z")
	if _, err := Generation(t.Context(), blockedLog{log}, fullCall.Tenant, fullCall.ID); err != nil {
		t.Error(err)
	}
}
