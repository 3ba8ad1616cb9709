package console

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/gatehouse-proxy/gatehouse/internal/keys"
	"github.com/gatehouse-proxy/gatehouse/internal/request"
	"github.com/gatehouse-proxy/gatehouse/internal/websession"
)

const (
	recordingJSON = `{"id":"vnc-0123456789abcdef","tenant":"acme","workstation":"desk1","key":"dev","user":"alice@example.com","node":"gw-2",
		"begun":"2026-11-23T01:00:00Z","ended":"2026-11-23T01:30:00Z","state":"complete","bytes":5242880,"replay":true}`
	cutRecordingJSON = `{"id":"vnc-fedcba9876543210","tenant":"acme","workstation":"desk2","key":"dev","role":"agent",
		"begun":"2026-11-22T01:00:00Z","state":"incomplete","bytes":100}`
	recordingPath = "/console/recordings/vnc-0123456789abcdef"
)

func recordingsAPI(t *testing.T) *manageAPI {
	return newManageAPI(t, map[string]string{
		"GET /v1/recordings":                         `200 {"object":"list","data":[` + recordingJSON + `,` + cutRecordingJSON + `],"next_cursor":"c2"}`,
		"GET /v1/recordings/vnc-0123456789abcdef":    "200 " + recordingJSON,
		"GET /v1/recordings/vnc-fedcba9876543210":    "200 " + cutRecordingJSON,
		"DELETE /v1/recordings/vnc-0123456789abcdef": "204 ",
	})
}

func TestTheListOfRecordings(t *testing.T) {
	a := recordingsAPI(t)
	a.shows(a.visit("/console/recordings?workstation=desk1&from=2026-11-01&cursor=c1", nil), 200,
		"desk1", "alice@example.com", "30 minutes", "5.0 MiB", "gw-2", "desk2", "agent", "incomplete", "Next page", "First page", "Show all", "Delete…")
	if q := a.asked[0].query.Encode(); q != "cursor=c1&from=2026-11-01&workstation=desk1" {
		t.Errorf("asked for %s", q)
	}
	a.key.Scopes &^= keys.RecordingsManage
	a.shows(a.visit("/console/recordings", nil), 200, "Watch", "!Delete…", "!Show all")
	a.answers = map[string]string{"GET /v1/recordings": `404 {"error":{"message":"this gateway records no sessions","code":"unknown_url"}}`}
	a.shows(a.visit("/console/recordings", nil), 200, "This gateway records nothing")
	a.answers = map[string]string{"GET /v1/recordings": `200 {"data":[]}`}
	a.shows(a.visit("/console/recordings", nil), 200, "Nothing is recorded yet")
	a.shows(a.visit("/console/recordings?key=dev", nil), 200, "No recording is like that")
}

func TestThePageOfARecording(t *testing.T) {
	a := recordingsAPI(t)
	w := a.visit(recordingPath, nil)
	a.shows(w, 200, "Recording of desk1", "30 minutes", "Skip what is idle", "Save as fbs", "!cannot be played")
	w = a.visit("/console/recordings/vnc-fedcba9876543210", nil)
	a.shows(w, 200, "cannot be played here", "lacks replay_identity", "Save the file", "!Skip what is idle", "!Save as fbs")
	a.shows(a.visit("/console/recordings/vnc-00", nil), 404, "it is at the gateway that had the session")
}

func TestDeletingARecordingAsks(t *testing.T) {
	a := recordingsAPI(t)
	a.shows(a.visit(recordingPath+"/delete", nil), 200, "Delete the recording of desk1?", "begun 23 Nov 2026 01:00 UTC, 30 minutes long", "Delete the recording")
	a.wantRedirect(a.visit(recordingPath+"/delete", url.Values{}), "/console/recordings?done=erased")
	if got := a.last().route; got != "DELETE /v1/recordings/vnc-0123456789abcdef" {
		t.Errorf("asked for %s", got)
	}
	a.key.Scopes = keys.RecordingsRead
	a.shows(a.visit(recordingPath+"/delete", url.Values{}), 403, "recordings:manage")
}

// replaySessions are sessions of which one is asked for, until it ends.
type replaySessions struct {
	websession.Store
	Gateway

	end     func()
	stopped bool
}

func (s *replaySessions) Sessions() websession.Store { return s }

func (s *replaySessions) OnEnd(_ string, _ websession.Life, _ func() time.Time, f func()) (stop func()) {
	s.end = f
	return func() { s.stopped = true }
}

func TestAReplayBelongsToItsPageAndSignIn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions, own := new(replaySessions), true
		asked := make(chan *http.Request, 1)
		console := &Console{config: Config{
			Gateway: sessions, Logger: zap.NewNop(), OwnPage: func(*http.Request) bool { return own },
			API: func(request.Caller) http.Handler {
				return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked <- r; <-r.Context().Done() })
			},
		}}
		connect := func() *httptest.ResponseRecorder {
			w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(context.Background(), http.MethodGet, recordingPath+"/socket", nil)
			r.SetPathValue("id", "vnc-0123456789abcdef")
			r.Header = http.Header{"Upgrade": {"websocket"}, "Connection": {"Upgrade"}, "Cookie": {"secret"}, "Authorization": {"secret"}}
			(&visit{w: w, r: r, console: console, page: &page{serve: replaySocket}, caller: request.Caller{Credential: keys.Credential{Key: &keys.Key{}}}}).serve()
			return w
		}
		done := make(chan struct{})
		go func() { connect(); close(done) }()
		r := <-asked
		if r.URL.Path != "/v1/recordings/vnc-0123456789abcdef/socket" || r.Header.Get("Upgrade") != "websocket" || r.Header.Get("Cookie")+r.Header.Get("Authorization") != "" {
			t.Errorf("asked for %s with %v", r.URL, r.Header)
		}
		sessions.end()
		<-done
		if !sessions.stopped {
			t.Error("it still waits for the end of the session")
		}
		own = false
		if w := connect(); w.Code != http.StatusForbidden || len(asked) > 0 {
			t.Errorf("a page of another origin got %d", w.Code)
		}
	})
}
