//go:build linux

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// tracesOf returns a fleet whose gateway has a log of three lines and answers the audit key with
// these activity rows.
func tracesOf(t *testing.T, rows string, status int) *fleet {
	t.Helper()
	log := filepath.Join(t.TempDir(), "process.log")
	if err := os.WriteFile(log, []byte("one\ntwo\nthree\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/v1/activity":
			if r.Header.Get("Authorization") != "Bearer sk-audit" {
				t.Errorf("activity asked with %q", r.Header.Get("Authorization"))
			}
			w.WriteHeader(status)
			if r.URL.Query().Get("status") == "429" && strings.HasPrefix(rows, `{"data"`) {
				w.Write([]byte(`{"data":[{"requests":1}]}`))
				return
			}
			w.Write([]byte(rows))
		case "/metrics":
			w.Write([]byte("# HELP gatehouse_requests_total x\ngatehouse_requests_total{a=\"b\"} 1\ncaddy_x 2\ngatehouse_y 3\n"))
		}
	})
	return &fleet{secrets: secrets{audit: "sk-audit"}, servers: []*server{{role: direct}, {role: gateway, addr: addr, admin: addr, log: log}}}
}

func TestProofAddsUpWhatTheGatewaysLeft(t *testing.T) {
	var p proof
	for range 2 {
		p.collect(t.Context(), tracesOf(t, `{"data":[{"requests":4,"prompt_tokens":100},{"requests":1,"prompt_tokens":7}]}`, 200), made{calls: 3, refused: 2, limited: 4})
	}
	if p.Calls != 10 || p.Refused != 4 || p.Limited != 8 || p.Turned != 2 || p.LogLines != 6 || p.Recorded != 8 || p.Tokens != 214 || p.Series != 2 || p.Missing != nil {
		t.Errorf("two rounds left %+v", p)
	}
}

func TestMissingProofIsReportedOnce(t *testing.T) {
	var p proof
	for range 2 {
		f := tracesOf(t, `{}`, 403)
		f.servers[1].log = filepath.Join(t.TempDir(), "none")
		p.collect(t.Context(), f, made{calls: 3, refused: 2, limited: 4})
	}
	p.collect(t.Context(), tracesOf(t, `no JSON`, 200), made{calls: 3, refused: 2, limited: 4})
	if p.Recorded != 0 || !slices.Contains(p.Missing, "activity: status 403") {
		t.Errorf("nothing was recorded, and the proof is %+v", p)
	}
	said := strings.Join(p.lines(), "\n")
	if strings.Count(said, "activity: status 403") != 1 || !strings.Contains(said, "not proved: activity: decoding") || !strings.Contains(said, "not proved: log:") {
		t.Errorf("the report says\n%s", said)
	}
}
