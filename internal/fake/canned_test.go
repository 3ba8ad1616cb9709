package fake_test

import (
	"bytes"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gatehouse-proxy/gatehouse/internal/fake"
)

func TestCannedAnswersWithAndWithoutRecord(t *testing.T) {
	for name, opts := range map[string][]fake.Option{"recording": nil, "not recording": {fake.WithoutRecord()}} {
		p, addr := start(t, opts...)
		for range 2 { // made, then kept
			r := post(t, addr, chatV1, chatBody("acme/bench", ""))
			o := decode(t, r.body)
			if r.err != nil || at(o, "model") != "acme/bench" || at(o, "usage", "total_tokens") == nil || len(r.body) < 900 || len(r.body) > 1200 {
				t.Errorf("%s: %d bytes, %v: %s", name, len(r.body), r.err, r.body)
			}
			r = post(t, addr, chatRouter, chatBody("burst-64", streaming))
			list, done := chunks(t, r)
			if len(r.frames) != 1 || !done || content(list) != strings.Repeat("word ", 64) || at(list[0], "model") != "burst-64" {
				t.Errorf("%s: %d writes, done %v", name, len(r.frames), done)
			}
		}
		if got, want := len(p.Requests()), map[bool]int{true: 4}[opts == nil]; got != want {
			t.Errorf("%s: %d recorded, want %d", name, got, want)
		}
	}
}

func TestWithoutRecordTheModelMayStandAnywhere(t *testing.T) {
	_, addr := start(t, fake.WithoutRecord())
	for _, body := range []string{
		`{"pad":"` + strings.Repeat("x", 10_000) + `","model":"bench"}`,
		`{"pad":"` + strings.Repeat("x", 10_000) + `","model" : "echo","messages":[{"role":"user","content":"say \"model\":\"bench\""}]}`,
		`{"model" : "bench","pad":"` + strings.Repeat("x", 10_000) + `"}`,
	} {
		r := post(t, addr, chatV1, body)
		want := "bench"
		if strings.Contains(body, `"echo"`) {
			want = "echo"
		}
		if r.status != 200 || at(decode(t, r.body), "model") != want {
			t.Errorf("%.60s: %d %.200s", body, r.status, r.body)
		}
	}
}

func BenchmarkBench(b *testing.B) {
	p := fake.New(fake.WithoutRecord())
	body := []byte(chatBody("bench", `,"pad":"`+strings.Repeat("x", 900)+`"`))
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest("POST", chatV1, bytes.NewReader(body)))
		if w.Code != 200 {
			b.Fatal(w.Code)
		}
	}
}
