package cli

import (
	"fmt"
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
		_, _ = fmt.Fprintf(w, `{"object":"list","data":%s}`, list)
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
		o := operator{address: strings.TrimPrefix(admin.URL, "http://"), asJSON: asJSON, out: &out}
		if err := listProviders(&o); err != nil || out.String() != want {
			t.Errorf("JSON %v: %v\n%s\nwant\n%s", asJSON, err, out.String(), want)
		}
	}
}

func TestTheCommandShowsCredentialsOfClouds(t *testing.T) {
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"list","data":[{"object":"provider","id":"acme","endpoints":[
			{"name":"east","host":"a.example","credential":{"cloud":"azure","valid":true,"remaining_seconds":3540,"failure":null}},
			{"name":"west","host":"b.example","credential":{"cloud":"azure","valid":false,"remaining_seconds":null,"failure":"status 401"}},
			{"name":"other","host":"c.example","credential":{"cloud":"aws","valid":true,"remaining_seconds":null,"failure":null}},
			{"name":null,"host":"d.example","credential":{"cloud":"google","valid":true,"remaining_seconds":60,"failure":"status 500"}},
			{"name":"key","host":"e.example"}],"targets":[]}]}`)
	}))
	defer admin.Close()
	var out strings.Builder
	o := operator{address: strings.TrimPrefix(admin.URL, "http://"), out: &out}
	want := "PROVIDER  TARGET           STATE            UNTIL  ATTEMPTS  FAILURES  LAST FAILURE\n" +
		"acme      auth azure@east  valid for 59m0s  -      -         -         -\n" +
		"acme      auth azure@west  no credential    -      -         -         status 401\n" +
		"acme      auth aws@other   valid            -      -         -         -\n" +
		"acme      auth google      valid for 1m0s   -      -         -         status 500\n" +
		"acme      -                no recent calls  -      0         0         -\n"
	if err := listProviders(&o); err != nil || out.String() != want {
		t.Errorf("%v\n%s\nwant\n%s", err, out.String(), want)
	}
}
