//go:build linux

package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestProfilesAreWrittenForEachCaddy(t *testing.T) {
	admin := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Write([]byte(r.URL.Path + " " + r.URL.Query().Get("seconds")))
	})
	driven := map[role]time.Duration{}
	of := func(s *server) *session {
		return &session{server: s, drive: func(_ context.Context, d time.Duration) (tally, error) {
			driven[s.role] += d
			return tally{calls: 5}, nil
		}}
	}
	sessions := []*session{of(&server{role: direct}), of(&server{role: proxy, admin: admin}), of(&server{role: gateway, admin: admin})}
	dir := t.TempDir()
	r := &runner{opts: options{Profile: dir, Time: 50 * time.Millisecond}}
	if err := r.profile(t.Context(), "req-1k", sessions); err != nil {
		t.Fatal(err)
	}
	for _, which := range []role{proxy, gateway} {
		for kind, page := range profiles {
			text, err := os.ReadFile(filepath.Join(dir, "req-1k-"+string(which)+"."+kind+".pprof"))
			if err != nil || string(text) != page+" 1" || driven[which] != time.Second {
				t.Errorf("%s: %q, %v, loaded for %s", which, text, err, driven[which])
			}
		}
	}
	if driven[direct] != 0 || sessions[2].made != 5 {
		t.Errorf("the upstream was loaded for %s, the gateway's calls are %d", driven[direct], sessions[2].made)
	}
	sessions[2].server.admin = sessions[2].server.admin[:strings.LastIndex(admin, ":")] + ":1"
	if err := r.profile(t.Context(), "req-1k", sessions); err == nil || !strings.Contains(err.Error(), string(gateway)) {
		t.Errorf("a profile that cannot be taken: %v", err)
	}
}
