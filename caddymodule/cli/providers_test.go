package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestTheCommandShowsProviders(t *testing.T) {
	const list = `[
  {
    "object": "provider",
    "id": "acme",
    "endpoints": [
      {
        "name": null,
        "host": "acme.example"
      }
    ],
    "targets": [
      {
        "id": "acme/m",
        "model": "acme/m",
        "endpoint": null,
        "state": "cooling",
        "cooldown_until": "2026-03-18T12:02:00Z",
        "attempts": 3,
        "failures": 1,
        "last_failure_class": "rate_limited",
        "last_failure_at": "2026-03-18T12:00:00Z",
        "last_success_at": null
      }
    ]
  },
  {
    "object": "provider",
    "id": "other",
    "endpoints": [],
    "targets": []
  },
  {
    "object": "provider",
    "id": "late",
    "endpoints": [],
    "targets": [],
    "list_missing": true
  }
]
`
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method+" "+r.URL.Path != "GET /gatehouse/providers" {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		_, _ = io.WriteString(w, list)
	}))
	defer admin.Close()
	for asJSON, want := range map[bool]string{
		true: list,
		false: "PROVIDER  TARGET  STATE                       UNTIL                 ATTEMPTS  FAILURES  LAST FAILURE\n" +
			"acme      acme/m  cooling                     2026-03-18T12:02:00Z  3         1         rate_limited 2026-03-18T12:00:00Z\n" +
			"other     -       no recent calls             -                     0         0         -\n" +
			"late      -       no list of models has come  -                     0         0         -\n",
	} {
		var out strings.Builder
		o := operator{address: strings.TrimPrefix(admin.URL, "http://"), out: &out}
		if err := o.providers(asJSON); err != nil || out.String() != want {
			t.Errorf("JSON %v: %v\n%s\nwant\n%s", asJSON, err, out.String(), want)
		}
	}
}
